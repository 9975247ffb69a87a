"""Convert secondary edges and signals of rs4 files between ids of elements and places in the tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from xml.sax.saxutils import quoteattr

from discsum.errors import FormatWarning, warn_caller
from discsum.erst import ERST, Place, SecondaryEdge, Signal
from discsum.formats._rs3_elements import Elements

# The places of elements by id.
Places = dict[str, Place]


def read_erst(found: Elements, cores: Places, wholes: Places, source: str) -> ERST:
    """Return the secondary edges and signals of a file; those of elements that the tree lacks are left out.

    Args:
        found: The file's elements.
        cores: What each element covers without its satellites.
        wholes: What each covers with them.
        source: The file's name, for warnings.
    """
    edges: dict[str, SecondaryEdge] = {}
    lost: list[int] = []
    for line, attributes in found.secondary:
        start, end = attributes.get("source", ""), attributes.get("target", "")
        relation = attributes.get("relname", "")
        if start in cores and end in cores and relation:
            id = attributes.get("id") or f"{start}-{end}"
            # Of edges with the same id, signals refer to the first.
            while id in edges:
                id += "'"
            edges[id] = SecondaryEdge(cores[start], cores[end], relation)
        else:
            lost.append(line)
    numbers = {id: number for number, id in enumerate(edges)}
    signals = []
    for line, attributes in found.signals:
        of = attributes.get("source", "")
        if of not in cores and of not in numbers:
            lost.append(line)
            continue
        place = None
        if of in cores:
            # An element's own relation holds for the element together with its satellites.
            place = cores[of] if found.items[of].relation in ("", "span") else wholes[of]
        rest = (attributes.get(name, "") for name in ("type", "subtype", "tokens", "status"))
        signals.append(Signal(place, numbers.get(of) if place is None else None, *rest))
    if lost:
        message = f"{len(lost)} secondary edges or signals name elements that the tree lacks; left out"
        warn_caller(FormatWarning(message, source=source, line=lost[0]))
    kept = edges or signals
    return ERST(tuple(edges.values()), tuple(signals), tuple(found.signal_types.items()) if kept else ())


def write_erst(erst: ERST, id_of: Mapping[Place, int], label: str) -> tuple[list[str], list[str]]:
    """Return the lines of the header and of the body for secondary edges and signals.

    Args:
        erst: The secondary edges and signals.
        id_of: The id of the element at each place; edges and signals at other places are left out, with a warning.
        label: The document's name, for that warning.
    """
    header = [
        f"\t\t\t<sig type={quoteattr(type)} subtypes={quoteattr(subtypes)}/>" for type, subtypes in erst.signal_types
    ]
    edges: dict[int, tuple[str, str]] = {}
    between = Counter[tuple[int, int]]()
    for number, edge in enumerate(erst.edges):
        if edge.source in id_of and edge.target in id_of:
            start, end = id_of[edge.source], id_of[edge.target]
            link = f'source="{start}" target="{end}" relname={quoteattr(edge.relation)}'
            between[start, end] += 1
            id = f"{start}-{end}" if between[start, end] == 1 else f"{start}-{end}-{between[start, end]}"
            edges[number] = (id, f'\t\t\t<secedge id="{id}" {link}/>')
    signals = []
    for signal in erst.signals:
        edge_id, _ = ("", "") if signal.edge is None else edges.get(signal.edge, ("", ""))
        id = str(id_of.get(signal.place, "")) if signal.place else edge_id
        if id:
            values = {"source": id, "type": signal.type, "subtype": signal.subtype, "tokens": signal.tokens}
            values |= {"status": signal.status} if signal.status else {}
            signals.append(f"\t\t\t<signal {' '.join(f'{name}={quoteattr(text)}' for name, text in values.items())}/>")
    lost = len(erst.edges) - len(edges) + len(erst.signals) - len(signals)
    if lost:
        message = f"{label}: {lost} secondary edges or signals name places that the tree lacks; left out"
        warn_caller(FormatWarning(message))
    body = _block("secedges", [line for _, line in edges.values()]) + _block("signals", signals)
    return _block("sigtypes", header), body


def _block(name: str, lines: list[str]) -> list[str]:
    return [f"\t\t<{name}>", *lines, f"\t\t</{name}>"] if lines else []
