"""The additions of eRST to a discourse tree: secondary edges, and signals of relations (Zeldes et al. 2025).

A place in the tree is identified by its first and last EDU, as no two nodes have the same ones.

References:
    Zeldes, Aoyama, Liu, Peng, Das and Gessler (2025): eRST: A Signaled Graph Theory of Discourse Relations and
    Organization. Computational Linguistics 51(1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# Python refuses to read a number with thousands of digits.
_NUMBER = re.compile(r"[0-9]{1,9}")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SecondaryEdge:
    """A further relation between two places of the tree."""

    source: Place
    target: Place
    relation: str


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal of a relation.

    Attributes:
        place: The place whose relation to the node above is signalled; None if it is that of a secondary edge.
        edge: Index of the secondary edge whose relation is signalled; None if it is that of a place.
        type: Type of the signal, such as `dm` or `lexical`.
        subtype: Its subtype, such as `indicative_word`.
        tokens: Comma-separated numbers of its tokens, counted from 1 over the file's EDUs, as in the file.
        status: Who made it, such as `gold`.
    """

    place: Place | None
    edge: int | None
    type: str
    subtype: str = ""
    tokens: str = ""
    status: str = ""

    @property
    def token_numbers(self) -> list[int]:
        """The numbers in `tokens`, without what is no number."""
        return [int(token) for token in map(str.strip, self.tokens.split(",")) if _NUMBER.fullmatch(token)]


@dataclass(frozen=True, slots=True)
class ERST:
    """Secondary edges and signals of a document, and the subtypes that its file declares for each type of signal."""

    edges: tuple[SecondaryEdge, ...] = ()
    signals: tuple[Signal, ...] = ()
    signal_types: tuple[tuple[str, str], ...] = ()
