"""`forward`, `generate` and `save_pretrained` of a sparse model, which know the sentences of its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from discsum.abstractive.sparse.calls import Call, Memo, SparseSettings
from discsum.abstractive.sparse.config import SETTINGS
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.projections import decoder_layers
from discsum.errors import InputError


@dataclass(eq=False)
class Forward:
    """The forward pass of a sparse model: its own, with the argument `layout`."""

    model: Any

    def __call__(self, *arguments: Any, layout: SentenceLayout | None = None, **options: Any) -> Any:
        """Run the model's own forward pass within a call."""
        if layout is not None:
            _check_fit(layout, arguments, options)
        _keep_calls(self.model)
        with self.model.sparse.within(started(self.model, layout)):
            return type(self.model).forward(self.model, *arguments, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        """The model's own with `layout`: `Trainer` keeps the columns that it names."""
        own = inspect.signature(partial(type(self.model).forward, self.model))
        layout = inspect.Parameter("layout", inspect.Parameter.KEYWORD_ONLY, default=None)
        named = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        rest = [one for one in own.parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD]
        return own.replace(parameters=[*named, layout, *rest])


@dataclass(eq=False)
class Generate:
    """`generate` of a sparse model: its own, with the argument `layout`."""

    model: Any

    def __call__(self, *arguments: Any, layout: SentenceLayout | None = None, **options: Any) -> Any:
        """Generate as `transformers` does, with the sentences of the inputs and one copy of the documents."""
        if layout is not None:
            _check_fit(layout, arguments, options)
        call = replace(started(self.model, layout), generating=True)
        if not _searches_beams(self.model, arguments, options):
            # Rows are samples that know nothing of each other.
            call = replace(call, share_beams=False)
        with self.model.sparse.within(call):
            return type(self.model).generate(self.model, *arguments, **options)


@dataclass(eq=False)
class SavePretrained:
    """`save_pretrained` of a sparse model: its own, with the settings in `config.json`."""

    model: Any

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Save the model with its selector and settings, which `from_pretrained` of this package reads."""
        config = self.model.config
        setattr(config, SETTINGS, self.model.sparse.current.to_dict())
        try:
            return type(self.model).save_pretrained(self.model, *arguments, **options)
        finally:
            delattr(config, SETTINGS)


@dataclass(eq=False)
class KeepingCall:
    """A checkpointing function that repeats a forward pass within the call of its first run."""

    checkpoint: Callable[..., Any]
    settings: SparseSettings

    def __call__(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Checkpoint a function."""
        call = self.settings.call
        if call.observer is not None:
            raise InputError(
                "expected no gradient checkpointing where attention is observed (the modes sparsity, kl, int-...): its "
                "losses would get no gradient; turn it off with gradient_checkpointing_disable"
            )
        return self.checkpoint(partial(self._run, call, function), *arguments, **options)

    def _run(self, call: Call, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        # A layer that is repeated alone finds nothing that other layers made, so it does without in its first run too.
        with self.settings.within(replace(call, memo=Memo())):
            return function(*arguments, **options)


def started(model: Any, layout: SentenceLayout | None) -> Call:
    """Return the call of a forward pass: the one that it is part of, with its own layout if it has one."""
    call: Call = model.sparse.call
    return call if layout is None else replace(call, layout=layout.to(model.device), memo=Memo())


def _keep_calls(model: Any) -> None:
    """Make layers with gradient checkpointing keep their calls; they are given the function when it is turned on."""
    for layer in decoder_layers(model):
        function = getattr(layer, "_gradient_checkpointing_func", None)
        if function is not None and not isinstance(function, KeepingCall):
            layer._gradient_checkpointing_func = KeepingCall(function, model.sparse)


def stop_keeping_calls(model: Any) -> None:
    """Give layers their own checkpointing functions again."""
    for layer in decoder_layers(model):
        function = getattr(layer, "_gradient_checkpointing_func", None)
        if isinstance(function, KeepingCall):
            layer._gradient_checkpointing_func = function.checkpoint


def _searches_beams(model: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Return whether `generate` searches beams: the first that says how many is who decides, as in transformers."""
    given = options.get("generation_config", arguments[1] if len(arguments) > 1 else None)
    counts = (options.get("num_beams"), *(getattr(one, "num_beams", None) for one in (given, model.generation_config)))
    return (next((count for count in counts if count is not None), 1)) > 1


def _check_fit(layout: SentenceLayout, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Check that a layout fits the inputs of `forward` or `generate`, of which the first is the tokens."""
    if not isinstance(layout, SentenceLayout):
        raise InputError(
            f"expected a SentenceLayout, got {type(layout).__name__}; make one with SentenceLayout.from_documents or "
            "from_owner"
        )
    ids = next(
        (one for one in (*arguments[:1], options.get("inputs"), options.get("input_ids")) if one is not None), None
    )
    states = options.get("encoder_outputs")
    given = ids if ids is not None else states[0] if states is not None else options.get("inputs_embeds")
    if given is not None and given.shape[:2] != layout.owner.shape:
        raise InputError(
            f"expected a layout of {tuple(given.shape[:2])} tokens, got one of {tuple(layout.owner.shape)}"
        )
    mask = options.get("attention_mask")
    if mask is not None and not torch.equal(mask.bool().cpu(), (layout.owner >= 0).cpu()):
        raise InputError("expected a layout with sentences for the tokens that attention_mask lets through alone")
