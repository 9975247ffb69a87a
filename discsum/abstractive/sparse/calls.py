"""Settings of a sparse model and data of one call, which all its cross-attention modules share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Integral
from typing import Any

from torch import Tensor

from discsum.abstractive.entry_points import Conversion
from discsum.abstractive.projections import decoder_layers
from discsum.abstractive.search_settings import chosen_setting
from discsum.abstractive.sentence_layout import SentenceLayout, check_fit
from discsum.abstractive.sparse.config import SETTINGS, SparseConfig
from discsum.abstractive.sparse.costs import whole_below
from discsum.errors import InputError, warn_caller


@dataclass(frozen=True, eq=False)
class Observation:
    """Attention of one layer in one forward pass, for losses and analyses.

    Attributes:
        attention: `(documents, heads, queries, sentences)` `alpha^s`: full attention to each sentence (Eq 4).
        predicted: `(documents, heads or 1, queries, sentences)` log probabilities of the selector, if there is one.
        kept: `(documents, queries, sentences)` true for the sentences that were read.
    """

    layer: int
    attention: Tensor
    predicted: Tensor | None
    kept: Tensor


@dataclass(frozen=True)
class CallRecord:
    """What a sparse model read in its last forward pass.

    Attributes:
        path: `selected`: only keys of the selected sentences; `masked`: all keys, with the other sentences masked;
            `full`: everything.
        reason: Why the path was taken.
        sentences: Number of sentences of each document; None without a layout.
        read: Number of sentences of each document that a query read; None without a layout.
    """

    path: str
    reason: str
    sentences: tuple[int, ...] | None = None
    read: tuple[int, ...] | None = None


@dataclass(eq=False)
class Memo:
    """Values that the layers of a forward pass share, with the encoder states they were computed from."""

    states: Tensor | None = None
    values: dict[Hashable, Tensor] = field(default_factory=dict)

    def of(self, states: Tensor, *, first: bool) -> dict[Hashable, Tensor]:
        """Return the values of these encoder states; empty for the `first` layer of a pass."""
        if first or self.states is not states:
            self.states, self.values = states, {}
        return self.values


def check_r(r: object) -> None:
    """Raise `InputError` unless `r` is none or a number of sentences."""
    if r is not None and (not isinstance(r, Integral) or isinstance(r, bool) or r < 1):
        raise InputError(f"r: expected at least 1 sentence, got {r!r}")


@dataclass(frozen=True, eq=False)
class Call:
    """The data of one call of a sparse model: a forward pass, or all forward passes of `generate`.

    Attributes:
        r: Number of sentences that a query reads; None for all.
        share_beams: Whether the rows of a document read the same sentences, by their mean score.
        dense_where_faster: Whether steps of a single token read all sentences where that is faster than selecting.
        layout: The sentences of the documents.
        by_attention: `(documents,)`, true for documents whose sentences are selected by full attention, as the selector
            `ideal` does; None if there are no such documents.
        observer: Called with each layer's `Observation`; all attention weights are then computed.
        generating: Whether rows may be beams or samples, several for each document of the layout.
    """

    r: int | None
    share_beams: bool
    dense_where_faster: bool
    layout: SentenceLayout | None = None
    by_attention: Tensor | None = None
    observer: Callable[[Observation], None] | None = None
    generating: bool = False
    memo: Memo = field(default_factory=Memo)

    def __post_init__(self) -> None:
        """Check `r`, because users may set it on the settings."""
        check_r(self.r)

    def read(self, sentences: int) -> int:
        """Return the number of a document's sentences that a step of a single token reads."""
        if self.r is None or (self.dense_where_faster and sentences < whole_below(self.r)):
            return sentences
        return min(self.r, sentences)

    def whole(self, layout: SentenceLayout) -> list[bool]:
        """Return, for each document, whether a step of a single token reads all of its sentences."""
        return [self.read(len(spans)) == len(spans) for spans in layout.spans]


@dataclass(eq=False)
class SparseSettings(Conversion):
    """Settings of a sparse model, kept as its attribute `sparse`; a call reads them once, when it starts.

    Attributes:
        config: Settings that the model was made with; the attributes below may have been changed since.
        r: Number of sentences that a query reads; None for all.
        share_beams: Whether the beams of a document read the same sentences, by their mean score.
        dense_where_faster: Whether steps of a single token read all sentences where that is faster than selecting.
    """

    name = "sparse"
    argument = "layout"
    key = SETTINGS

    config: SparseConfig
    r: int | None = field(init=False)
    share_beams: bool = field(init=False)
    dense_where_faster: bool = field(init=False)
    _warned: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        """Start from the settings that the model was made with."""
        config = self.config
        self.r, self.share_beams, self.dense_where_faster = config.r, config.share_beams, config.dense_where_faster

    @property
    def current(self) -> SparseConfig:
        """The current settings."""
        own = {name: getattr(self, name) for name in ("r", "share_beams", "dense_where_faster")}
        return replace(self.config, **own)

    @property
    def call(self) -> Call:
        """The current call of this thread or task; outside of calls, one without a layout."""
        return self.current_call or Call(self.r, self.share_beams, self.dense_where_faster)

    @property
    def last(self) -> CallRecord | None:
        """What the model read last in this thread or task; None before that, or if another model has read since."""
        owner, record = _LAST.get()
        return record if owner is self else None

    @contextmanager
    def using(self, **changes: Any) -> Iterator[None]:
        """Change attributes of the call within a block, for this thread or task only."""
        with self.within(replace(self.call, **changes)):
            yield

    def to_dict(self) -> dict[str, Any]:
        """Return the current settings as JSON values."""
        return self.current.to_dict()

    def layers(self, model: Any) -> list[Any]:
        """Return the decoder's layers."""
        return decoder_layers(model)

    def forward_context(
        self, model: Any, given: SentenceLayout | None, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        """Return the context of a forward pass: the current call, with the given layout if there is one."""
        if given is not None:
            check_fit(given, arguments, options)
        return self.within(self._started(model, given))

    def generate_context(
        self, model: Any, given: SentenceLayout | None, arguments: tuple[Any, ...], options: Mapping[str, Any]
    ) -> AbstractContextManager[None]:
        """Return the context of `generate`, in which each document of the layout may have several rows."""
        if given is not None:
            check_fit(given, arguments, options)
        call = replace(self._started(model, given), generating=True)
        if not _searches_beams(model, arguments, options):
            # Rows are independent samples.
            call = replace(call, share_beams=False)
        return self.within(call)

    def recompute_context(self) -> Callable[[], AbstractContextManager[None]]:
        """Return a function that makes the context for each run of a layer; attention must not be observed."""
        call = self.call
        if call.observer is not None:
            raise InputError(
                "gradient checkpointing cannot be used in modes that observe attention (sparsity, kl, int-...), whose "
                "losses would get no gradient; turn it off with gradient_checkpointing_disable"
            )
        # A layer that is recomputed alone has no values from other layers, so its first run must not use them either.
        return partial(self._alone, call)

    def _alone(self, call: Call) -> AbstractContextManager[None]:
        return self.within(replace(call, memo=Memo()))

    def _started(self, model: Any, layout: SentenceLayout | None) -> Call:
        call = self.call
        return call if layout is None else replace(call, layout=layout.to(model.device), memo=Memo())

    def record(self, call: CallRecord) -> None:
        """Store what a call read as the `last`."""
        _LAST.set((self, call))

    def warn_once(self, message: str) -> None:
        """Warn, once per model, that something asked for is not done."""
        if message not in self._warned:
            self._warned.add(message)
            warn_caller(message)


_LAST: ContextVar[tuple[SparseSettings | None, CallRecord | None]] = ContextVar("last call", default=(None, None))


def _searches_beams(model: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> bool:
    """Return whether `generate` uses several beams; the first given `num_beams` counts, as in transformers."""
    second = {"generation_config": arguments[1]} if len(arguments) > 1 else {}
    return (chosen_setting(model, {**second, **options}, "num_beams") or 1) > 1
