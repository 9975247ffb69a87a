"""Select the elements of an rs3 file to read if it has several roots, unknown parents or empty groups."""

from __future__ import annotations

from collections.abc import Sequence

from discsum.errors import FormatError, FormatWarning, few, warn_caller
from discsum.formats._constituents import top_down
from discsum.formats._roots import JOINED, largest
from discsum.formats._rs3_elements import Element

# Elements, parents before children, each with its children.
Order = list[tuple[Element, list[Element]]]


def select(items: Sequence[Element], policy: str, source: str) -> tuple[Order, list[Element], list[int]]:
    """Return the elements to read, their segments in text order, and each segment's root as an index into `items`.

    Raises:
        FormatError: A circle, or, with the policy `error`, an unknown parent or several roots.
    """
    strict = policy == "error"
    parents = _parents(items, source, strict=strict)
    order = top_down(items, parents, "parent", source, one_root=strict)
    root, covered = [0] * len(items), [int(element.kind == "segment") for element in items]
    for item, _ in order:
        root[item] = item if parents[item] < 0 else root[parents[item]]
    for item, _ in reversed(order):
        if parents[item] >= 0:
            covered[parents[item]] += covered[item]
    segments = [item for item, element in enumerate(items) if element.kind == "segment"]
    empty = [item for item, _ in order if not covered[item]]
    if empty and not strict:
        message = f"expected segments under each group, got none under {few([items[item] for item in empty])}; left out"
        _warn(message, source, items[empty[0]])
        order = [(item, [child for child in below if covered[child]]) for item, below in order if covered[item]]
    # In the text order of their first segments.
    heads = list(dict.fromkeys(root[item] for item in segments))
    if len(heads) > 1 and policy == "drop":
        kept = largest([root[item] for item in segments])
        lost = [item for item in segments if root[item] != kept]
        message = (
            f"expected one root, got {len(heads)}; left out {len(lost)} of {len(segments)} segments, those that are "
            f"not under {items[kept]}, the largest"
        )
        _warn(message, source, items[lost[0]])
        order = [(item, below) for item, below in order if root[item] == kept]
        segments = [item for item in segments if root[item] == kept]
    elif len(heads) > 1:
        message = (
            f"expected one root, got {len(heads)}: {few([items[head] for head in heads])} have no parent; {JOINED}"
        )
        _warn(message, source, items[heads[1]])
    return (
        [(items[item], [items[child] for child in below]) for item, below in order],
        [items[item] for item in segments],
        [root[item] for item in segments],
    )


def _parents(items: Sequence[Element], source: str, *, strict: bool) -> list[int]:
    """Return the index of each element's parent, -1 if it has none."""
    place = {element.id: index for index, element in enumerate(items)}
    for element in items:
        if element.parent in place or element.parent in ("", "0"):
            continue
        message = f"{element}: expected a parent in the file, got {element.parent!r}"
        if strict:
            message += "; correct it, or treat it as unattached with --roots join (Python: roots='join')"
            raise FormatError(message, source=source, line=element.line)
        _warn(f"{message}; treated as unattached", source, element)
    return [place.get(element.parent, -1) for element in items]


def _warn(message: str, source: str, element: Element) -> None:
    warn_caller(FormatWarning(message, source=source, line=element.line))
