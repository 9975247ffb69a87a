"""What the cross-attentions of a sparse model share: its settings, and the data of one call.

Settings live on the model. What belongs to one call lives in a `ContextVar`, so that threads and nested calls on one
model never see each other's documents.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from numbers import Integral
from types import MappingProxyType
from typing import Any
from warnings import warn

from torch import Tensor

from discsum.abstractive.sparse.config import SparseConfig
from discsum.abstractive.sparse.costs import whole_below
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.errors import InputError, InputWarning


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
class Reading:
    """What the last cross-attention of a model read.

    Attributes:
        path: `selected`: keys of the selected sentences alone; `masked`: all keys, the other sentences masked; `full`:
            everything.
        reason: Why the path was taken.
        sentences: Sentences of each document; none without a layout.
        read: Sentences of each document that a query read; none without a layout.
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
    """The data of one call of a sparse model: a forward pass, or all of those of `generate`.

    Attributes:
        r: Sentences that a query reads; none for all.
        share_beams: Whether the rows of a document read the same sentences, by their mean score.
        dense_where_faster: Whether single steps read all sentences where that is faster than selecting.
        layout: The sentences of the documents.
        by_attention: `(documents,)`, true for documents whose sentences are selected by full attention, as the selector
            `ideal` does; none for no document.
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
        """Check `r`, an attribute of the settings that anybody may set."""
        check_r(self.r)

    def read(self, sentences: int) -> int:
        """Return the number of a document's sentences that one step of `generate` reads."""
        if self.r is None or (self.dense_where_faster and sentences < whole_below(self.r)):
            return sentences
        return min(self.r, sentences)

    def whole(self, layout: SentenceLayout) -> list[bool]:
        """Return, for each document, whether a step of `generate` reads all of its sentences."""
        return [self.read(len(spans)) == len(spans) for spans in layout.spans]


@dataclass(eq=False)
class SparseSettings:
    """Settings of a sparse model, its attribute `sparse`; a call reads them once, when it starts.

    Attributes:
        config: What it was made with, except for the attributes below, which may be changed.
        r: Sentences that a query reads; none for all.
        share_beams: Whether the beams of a document read the same sentences, by their mean score.
        dense_where_faster: Whether single steps of `generate` read all sentences where that is faster than selecting.
    """

    config: SparseConfig
    r: int | None = field(init=False)
    share_beams: bool = field(init=False)
    dense_where_faster: bool = field(init=False)
    _warned: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        """Begin with what the model was made with."""
        config = self.config
        self.r, self.share_beams, self.dense_where_faster = config.r, config.share_beams, config.dense_where_faster

    @property
    def current(self) -> SparseConfig:
        """The settings as they are now."""
        own = {name: getattr(self, name) for name in ("r", "share_beams", "dense_where_faster")}
        return replace(self.config, **own)

    @property
    def call(self) -> Call:
        """The call that this thread or task is in; outside of one, a call without a layout."""
        return _CALLS.get().get(self) or Call(self.r, self.share_beams, self.dense_where_faster)

    @property
    def last(self) -> Reading | None:
        """What the model's last cross-attention read, in this thread or task; none before the first."""
        owner, reading = _LAST.get()
        return reading if owner is self else None

    @contextmanager
    def using(self, **changes: Any) -> Iterator[None]:
        """Change attributes of the call within a block, for this thread or task alone."""
        with self.within(replace(self.call, **changes)):
            yield

    @contextmanager
    def within(self, call: Call) -> Iterator[None]:
        """Run a block within a call."""
        token = _CALLS.set({**_CALLS.get(), self: call})
        try:
            yield
        finally:
            _CALLS.reset(token)

    def record(self, reading: Reading) -> None:
        """Make a reading the `last`."""
        _LAST.set((self, reading))

    def warn_once(self, message: str) -> None:
        """Warn of what was asked for and not done, once for a model."""
        if message not in self._warned:
            self._warned.add(message)
            warn(message, InputWarning, stacklevel=2)


_CALLS: ContextVar[Mapping[SparseSettings, Call]] = ContextVar("calls of sparse models", default=MappingProxyType({}))
_LAST: ContextVar[tuple[SparseSettings | None, Reading | None]] = ContextVar("last reading", default=(None, None))
