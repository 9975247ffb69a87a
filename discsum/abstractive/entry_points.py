"""Replacements for `forward`, `generate` and `save_pretrained` of a model that was converted.

A conversion, such as `sparsify` or `compress`, changes a model in place and stores its settings on it. The data of one
call lives in a `ContextVar`, so that threads and nested calls on one model never see each other's documents.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

_CALLS: ContextVar[Mapping[Conversion, Any]] = ContextVar("calls of converted models", default=MappingProxyType({}))


class Conversion(ABC):
    """The settings of a conversion, kept as an attribute of the model, and its part in every call.

    Attributes:
        name: Name of the model's attribute.
        argument: Name of the argument that it adds to `forward` and `generate`.
        key: Field of `config.json` with the settings.
    """

    name: ClassVar[str]
    argument: ClassVar[str]
    key: ClassVar[str]

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values."""

    @abstractmethod
    def layers(self, model: Any) -> list[Any]:
        """Return the layers that it changed, which gradient checkpointing may run again after the call."""

    @abstractmethod
    def forward_context(
        self, model: Any, given: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        """Return the context of a forward pass; `given` is the value of the conversion's own argument."""

    @abstractmethod
    def generate_context(
        self, model: Any, given: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        """Return the context of `generate`; `given` is the value of the conversion's own argument."""

    @abstractmethod
    def recompute_context(self) -> Callable[[], AbstractContextManager[None]]:
        """Return a function that makes the context for each run of a checkpointed layer of this call."""

    @property
    def current_call(self) -> Any:
        """The current call of this thread or task; None outside of calls."""
        return _CALLS.get().get(self)

    @contextmanager
    def within(self, call: Any) -> Iterator[None]:
        """Make `call` the current call within a block."""
        token = _CALLS.set({**_CALLS.get(), self: call})
        try:
            yield
        finally:
            _CALLS.reset(token)


def conversions(model: Any) -> list[Conversion]:
    """Return the conversions of a model."""
    return [one for one in vars(model).values() if isinstance(one, Conversion)]


def attach(model: Any, conversion: Conversion) -> None:
    """Add a conversion to a model, and replace the model's methods."""
    setattr(model, conversion.name, conversion)
    model.forward, model.generate = ConvertedForward(model), ConvertedGenerate(model)
    model.save_pretrained = ConvertedSavePretrained(model)


def detach(model: Any, conversion: Conversion) -> None:
    """Remove a conversion from a model; with the last one, restore the model's own methods."""
    for layer in conversion.layers(model):
        function = getattr(layer, "_gradient_checkpointing_func", None)
        if isinstance(function, CheckpointInCall):
            layer._gradient_checkpointing_func = function.checkpoint
    delattr(model, conversion.name)
    # The configuration of a loaded model still has the saved settings.
    vars(model.config).pop(conversion.key, None)
    if not conversions(model):
        del model.forward, model.generate, model.save_pretrained


@dataclass(eq=False)
class ConvertedForward:
    """The forward pass of a converted model, which also takes the arguments of its conversions."""

    model: Any

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run the model's own forward pass within a call of each conversion."""
        with ExitStack() as calls:
            given = [(one, options.pop(one.argument, None)) for one in conversions(self.model)]
            for one, value in given:
                _keep_calls(one, self.model)
                calls.enter_context(one.forward_context(self.model, value, arguments, options))
            return type(self.model).forward(self.model, *arguments, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        """The model's own signature plus the conversions' arguments; `Trainer` keeps only the columns that it names."""
        own = inspect.signature(partial(type(self.model).forward, self.model))
        kind = inspect.Parameter.KEYWORD_ONLY
        added = [inspect.Parameter(one.argument, kind, default=None) for one in conversions(self.model)]
        named = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        rest = [one for one in own.parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD]
        return own.replace(parameters=[*named, *added, *rest])


@dataclass(eq=False)
class ConvertedGenerate:
    """`generate` of a converted model, which also takes the arguments of its conversions."""

    model: Any

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Generate as `transformers` does, within a call of each conversion."""
        with ExitStack() as calls:
            given = [(one, options.pop(one.argument, None)) for one in conversions(self.model)]
            for one, value in given:
                calls.enter_context(one.generate_context(self.model, value, arguments, options))
            return type(self.model).generate(self.model, *arguments, **options)


@dataclass(eq=False)
class ConvertedSavePretrained:
    """`save_pretrained` of a converted model, which also writes the settings to `config.json`."""

    model: Any

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Save the model with the weights and settings of its conversions, for their `from_pretrained`."""
        config, found = self.model.config, conversions(self.model)
        for one in found:
            setattr(config, one.key, one.to_dict())
        try:
            return type(self.model).save_pretrained(self.model, *arguments, **options)
        finally:
            for one in found:
                delattr(config, one.key)


@dataclass(eq=False)
class CheckpointInCall:
    """A checkpointing function that recomputes a forward pass within the call of its first run."""

    checkpoint: Callable[..., Any]
    conversion: Conversion

    def __call__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Checkpoint a function."""
        return self.checkpoint(partial(self._run, self.conversion.recompute_context(), function), *arguments, **options)

    @staticmethod
    def _run(
        context: Callable[[], AbstractContextManager[None]],
        function: Callable[..., Any],
        *arguments: Any,
        **options: Any,
    ) -> Any:
        with context():
            return function(*arguments, **options)


def _keep_calls(conversion: Conversion, model: Any) -> None:
    """Wrap each layer's checkpointing function in `CheckpointInCall`; layers have one while checkpointing is on."""
    for layer in conversion.layers(model):
        function = getattr(layer, "_gradient_checkpointing_func", None)
        if function is not None and not isinstance(function, CheckpointInCall):
            layer._gradient_checkpointing_func = CheckpointInCall(function, conversion)
