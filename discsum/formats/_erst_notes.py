"""Secondary edges and signals in words, as notes on the EDUs and constituents of a page."""

from __future__ import annotations

from collections.abc import Iterable

from discsum.document import Document
from discsum.erst import Place, Signal
from discsum.formats._constituents import Constituent


def erst_notes(document: Document, inner: list[Constituent]) -> dict[int, list[str]]:
    """Return the notes on EDUs and constituents, by the EDU's index, or `edus` plus the constituent's index."""
    erst, edus = document.erst, len(document.edus)
    if erst is None:
        return {}
    words = " ".join(document.edu_texts).split()
    said: list[tuple[Place, str]] = []
    signals_of: dict[Place | int | None, list[Signal]] = {}
    for one in erst.signals:
        signals_of.setdefault(one.edge if one.place is None else one.place, []).append(one)
    for number, edge in enumerate(erst.edges):
        signals = _signals(signals_of.get(number, []), words)
        said.append((edge.source, f"secondary: {edge.relation} to {_range(edge.target)}{signals}"))
        said.append((edge.target, f"secondary: {edge.relation} from {_range(edge.source)}{signals}"))
    for at, own in signals_of.items():
        if isinstance(at, tuple):
            said.append((at, _signals(own, words).lstrip("; ")))
    covered: list[Place] = [(edu, edu) for edu in range(edus)] + [(0, 0)] * len(inner)
    for index in reversed(range(edus, len(covered))):
        children = inner[index - edus].children
        covered[index] = (covered[children[0]][0], covered[children[-1]][1])
    index_of = {place: index for index, place in enumerate(covered)}
    notes: dict[int, list[str]] = {}
    for place, text in said:
        if place not in index_of:
            # A place that the drawing lacks is inside a list; its notes go to the list.
            inside = (at for at in reversed(range(edus, len(covered))) if _holds(covered[at], place))
            index_of[place] = next(inside, 0)
        notes.setdefault(index_of[place], []).append(text)
    return notes


def _holds(whole: Place, place: Place) -> bool:
    return whole[0] <= place[0] and place[1] <= whole[1]


def _signals(signals: Iterable[Signal], words: list[str]) -> str:
    """Return the types of signals with the words of their tokens, such as `; signal: dm (because)`."""
    found = ""
    for signal in signals:
        tokens = " ".join(words[number - 1] for number in signal.token_numbers if 0 < number <= len(words))
        kind = signal.type if signal.subtype in ("", signal.type) else f"{signal.type}, {signal.subtype}"
        found += f"; signal: {kind}" + (f" ({tokens})" if tokens else "")
    return found


def _range(place: Place) -> str:
    first, last = place
    return f"EDU {first + 1}" if first == last else f"EDUs {first + 1} to {last + 1}"
