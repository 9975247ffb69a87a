"""Reading of rs3 and rs4 files."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from discsum.document import Document
from discsum.errors import FormatError, FormatWarning, warn_caller
from discsum.erst import ERST
from discsum.formats._constituents import (
    DiscontinuousError,
    Part,
    assemble,
    join_satellite,
    relation_conflict,
)
from discsum.formats._erst_elements import Places, read_erst
from discsum.formats._plain_text import fold
from discsum.formats._roots import join_roots, places
from discsum.formats._rs3_elements import Element, Elements, read_elements
from discsum.formats._rs3_roots import select
from discsum.tree import Node, RSTTree


def loads(content: str | bytes, source: str = "", roots: str = "join") -> Document:
    """Return the document of an rs3 or rs4 file: its EDUs, its tree, and of rs4 secondary edges and signals.

    A label declared both for satellites and as multinuclear is read as by RSTTool: under a multinuclear group, it marks
    a nucleus if two children share it, or if no multinuclear label is shared by two.

    Args:
        content: The file, as bytes in the encoding that it declares.
        source: The file's name, for errors.
        roots: How to read unattached segments and additional roots: `join` joins them in text order under the relation
            `unattached`, `drop` leaves out everything that is not under the largest root, `error` refuses the file.

    Raises:
        FormatError: Broken XML, a circle, a group without nucleus, a discontinuous span, roots that cannot be joined,
            or, with `roots="error"`, an unknown parent or several roots.
    """
    found = read_elements(content, source)
    items = list(found.items.values())
    if not any(element.kind == "segment" for element in items):
        raise FormatError("expected <segment> elements, found none; is it an rs3 file?", source=source)
    for element in items:
        if element.kind == "segment" and not fold(element.text):
            message = f"{element}: expected some text, got none; remove it, and attach its children to another element"
            raise FormatError(message, source=source, line=element.line)
    order, segments, root_of = select(items, roots, source)
    nodes: list[Node] = []
    edus = places(root_of)
    # Filled bottom up: first the EDU of each segment, then what every element covers with its children.
    parts = {segments[edu].id: Part(place, place) for place, edu in enumerate(edus)}
    cores: Places = {}
    wholes: Places = {}
    for element, children in reversed(order):
        try:
            core, whole = _join(element, children, parts, found, nodes, source)
        except DiscontinuousError as error:
            message = (
                f"{element}: {error.message(edus)}; attach what lies between to it or to its nuclei, or attach the "
                "first span to another element"
            )
            raise FormatError(message, source=source, line=error.part.line or element.line) from error
        parts[element.id] = replace(whole, relation=element.relation, line=element.line)
        cores[element.id] = edus[core.first], edus[core.last]
        wholes[element.id] = edus[whole.first], edus[whole.last]
    nodes = join_roots(root_of, nodes, lambda root: (items[root], items[root].line), source)
    tree = RSTTree.from_unordered(len(segments), nodes)
    document = Document.from_edu_texts([fold(element.text) for element in segments], tree, parser="rs3")
    erst = read_erst(found, cores, wholes, source)
    if erst.signals:
        erst = _renumbered(erst, [element for element in items if element.kind == "segment"], set(parts))
    return replace(document, erst=erst) if erst != ERST() else document


def _join(
    element: Element, children: list[Element], parts: dict[str, Part], found: Elements, nodes: list[Node], source: str
) -> tuple[Part, Part]:
    """Append the nodes over an element, its nuclei and satellites; return what the nuclei and what all cover."""
    shared = Counter(child.relation for child in children)
    alone = none_is_shared(shared, found.types)
    nuclei = [parts[element.id]] if element.kind == "segment" else []
    satellites: list[Part] = []
    for child in children:
        if not child.relation:
            message = f"{child}: expected a relname, got none; name the relation to its parent, {element}"
            raise FormatError(message, source=source, line=child.line)
        if child.relation == "span" and (
            element.kind == "segment" or (element.kind == "multinuc" and shared["span"] > 1)
        ):
            message = f"{child}: expected a relation to {element}, got 'span', which names the one nucleus of a span"
            raise FormatError(f"{message}; name the relation", source=source, line=child.line)
        joined = nuclei if is_nucleus(element, child, shared, found.types, alone) else satellites
        joined.append(parts[child.id])
    if not nuclei or (element.kind == "span" and len(nuclei) > 1):
        wanted = "one nucleus (a child with relname 'span')" if element.kind == "span" else "nuclei"
        remedy = "children of a multinuclear relation" if element.kind == "multinuc" else "one child with that relname"
        message = f"{element}: expected {wanted}, got {len(nuclei)}; give it {remedy}"
        raise FormatError(message, source=source, line=element.line)
    if conflict := relation_conflict(nuclei):
        warn_caller(FormatWarning(f"{element}: {conflict}", source=source, line=element.line))
    first, last = min(part.first for part in nuclei), max(part.last for part in nuclei)
    if inside := [part for part in satellites if first < part.first < last]:
        message = (
            f"{element}: expected satellites before or after its nuclei, got {len(inside)} between them; each was "
            "attached to the nucleus before it"
        )
        warn_caller(FormatWarning(message, source=source, line=inside[0].line))
        nuclei = _with_satellites(nuclei, inside, nodes)
        satellites = [part for part in satellites if not first < part.first < last]
    whole = assemble(nuclei, satellites, nodes)
    return Part(first, last), whole


def _with_satellites(nuclei: Sequence[Part], satellites: Sequence[Part], nodes: list[Node]) -> list[Part]:
    """Append the nodes that join each satellite to the nucleus before it; return what the nuclei cover then."""
    joined = sorted(nuclei, key=lambda part: part.first)
    firsts = [nucleus.first for nucleus in joined]
    for satellite in sorted(satellites, key=lambda part: part.first):
        # The last nucleus that begins before it.
        place = bisect_left(firsts, satellite.first) - 1
        nucleus = joined[place]
        joined[place] = replace(join_satellite(nucleus, satellite, nodes), relation=nucleus.relation, line=nucleus.line)
    return joined


def _renumbered(erst: ERST, segments: Sequence[Element], kept: Collection[str]) -> ERST:
    """Renumber the tokens of signals to count words of kept segments only; `segments` are all of the file in order."""
    numbers: dict[int, int] = {}
    count = 0
    for element in segments:
        for _ in fold(element.text).split():
            count += 1
            if element.id in kept:
                numbers[count] = len(numbers) + 1
    if len(numbers) == count:
        return erst
    signals = []
    for signal in erst.signals:
        moved = ",".join(str(numbers[token]) for token in signal.token_numbers if token in numbers)
        signals.append(replace(signal, tokens=moved))
    return replace(erst, signals=tuple(signals))


def none_is_shared(shared: Counter[str], types: dict[str, set[str]]) -> bool:
    """Return whether no two children of an element share a relation that may be multinuclear."""
    return all(count == 1 for label, count in shared.items() if "multinuc" in types.get(label, {"multinuc"}))


def is_nucleus(parent: Element, child: Element, shared: Counter[str], types: dict[str, set[str]], alone: bool) -> bool:
    """Return whether a child of an element is a nucleus.

    Args:
        parent: The element.
        child: The child.
        shared: How many of the element's children have each relation.
        types: The declared types of relations.
        alone: The result of `none_is_shared` for these.
    """
    if parent.kind == "segment":
        return False
    if parent.kind == "span" or child.relation == "span":
        return child.relation == "span"
    declared = types.get(child.relation, {"rst", "multinuc"})
    if declared >= {"rst", "multinuc"}:
        return shared[child.relation] > 1 or alone
    return "multinuc" in declared
