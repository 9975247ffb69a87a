"""rs3 and rs4: the XML of RSTTool and rstWeb.

A `<segment>` is an EDU, a `<group>` a span or a multinuclear constituent; each names its parent and its relation to it.
The nucleus of a span group has the relation `span`; a satellite's parent is its nucleus; the nuclei of a multinuclear
group have the group's relation. rs4 adds secondary edges and signals (eRST), which are ignored when reading and never
written, so both formats have the same writer.

Reading makes n-ary constituents binary by `_constituents.assemble`. Writing gives every binary node a group, and one
multinuclear group to nuclei that branch to the right under one relation; reading that back returns the same tree.
Texts are written as by `_plain_text`; the format has no probabilities.
"""

from __future__ import annotations

from collections import Counter
from xml.sax.saxutils import escape, quoteattr

from discsum.document import Document
from discsum.errors import FormatError
from discsum.format_registry import FORMATS, Format
from discsum.formats._constituents import Constituent, DiscontinuousError, Part, assemble, constituents, top_down
from discsum.formats._plain_text import fold, lines_of
from discsum.formats._rs3_elements import Element, read_elements
from discsum.tree import Node, RSTTree

# The relations of GUM by class, listed in every header so that rstWeb offers them in its editor.
_SATELLITE_RELATIONS = {
    "adversative": ("antithesis", "concession"),
    "attribution": ("negative", "positive"),
    "causal": ("cause", "result"),
    "context": ("background", "circumstance"),
    "contingency": ("condition",),
    "elaboration": ("additional", "attribute"),
    "evaluation": ("comment",),
    "explanation": ("evidence", "justify", "motivation"),
    "mode": ("manner", "means"),
    "organization": ("heading", "phatic", "preparation"),
    "purpose": ("attribute", "goal"),
    "restatement": ("partial",),
    "topic": ("question", "solutionhood"),
}
_MULTINUCLEAR_RELATIONS = {
    "adversative": ("contrast",),
    "joint": ("disjunction", "list", "other", "sequence"),
    "restatement": ("repetition",),
    "same": ("unit",),
}


def loads(content: str, source: str = "") -> Document:
    """Return the document of an rs3 or rs4 file: its EDUs and primary tree.

    A label declared both for satellites and as multinuclear is read as by RSTTool: under a multinuclear group it is a
    nucleus's if two children share it, or if no label is shared by two.

    Raises:
        FormatError: Broken XML, an unknown parent, several roots, a circle, or a discontinuous span.
    """
    items, types = read_elements(content, source)
    segments = [element for element in items if element.kind == "segment"]
    if not segments:
        raise FormatError("expected <segment> elements, found none", source=source)
    index = {element.id: place for place, element in enumerate(items)}
    for element in items:
        if element.kind == "segment" and not fold(element.text):
            raise FormatError(f"{element}: expected some text, got none", source=source, line=element.line)
        if element.parent not in index and element.parent not in ("", "0"):
            message = f"{element}: expected a parent in the file, got {element.parent!r}"
            raise FormatError(message, source=source, line=element.line)
    nodes: list[Node] = []
    # Filled bottom up: of a segment its EDU, then of every element what it covers with its children.
    parts = {element.id: Part(index, index) for index, element in enumerate(segments)}
    for item, below in reversed(top_down(items, [index.get(item.parent, -1) for item in items], "parent", source)):
        children = [items[child] for child in below]
        parts[items[item].id] = _join(items[item], children, parts, types, nodes, source)
    tree = RSTTree.from_unordered(len(segments), nodes)
    return Document.from_edu_texts([fold(element.text) for element in segments], tree, parser="rs3")


def _join(
    element: Element,
    children: list[Element],
    parts: dict[str, Part],
    types: dict[str, set[str]],
    nodes: list[Node],
    source: str,
) -> Part:
    """Append the nodes over an element, its nuclei and its satellites; return the EDUs that they cover."""
    shared = Counter(child.relation for child in children)
    nuclei = [parts[element.id]] if element.kind == "segment" else []
    satellites: list[Part] = []
    for child in children:
        if not child.relation:
            raise FormatError(f"{child}: expected a relname, got none", source=source, line=child.line)
        joined = nuclei if _is_nucleus(element, child, shared, types) else satellites
        joined.append(parts[child.id])
    if not nuclei or (element.kind == "span" and len(nuclei) > 1):
        wanted = "one nucleus (a child with relname 'span')" if element.kind == "span" else "nuclei"
        raise FormatError(f"{element}: expected {wanted}, got {len(nuclei)}", source=source, line=element.line)
    try:
        whole = assemble(nuclei, satellites, nodes)
    except DiscontinuousError as error:
        raise FormatError(f"{element}: {error}", source=source, line=error.part.line or element.line) from error
    return Part(whole.first, whole.last, element.relation, element.line)


def _is_nucleus(parent: Element, child: Element, shared: Counter[str], types: dict[str, set[str]]) -> bool:
    if parent.kind == "segment":
        return False
    if parent.kind == "span" or child.relation == "span":
        return child.relation == "span"
    declared = types.get(child.relation, {"rst", "multinuc"})
    if declared >= {"rst", "multinuc"}:
        multinuclear = [label for label in shared if "multinuc" in types.get(label, {"multinuc"})]
        return shared[child.relation] > 1 or all(shared[label] == 1 for label in multinuclear)
    return "multinuc" in declared


def dumps(document: Document) -> str:
    """Return the document's tree as an rs3 file, which is a valid rs4 file too.

    Raises:
        InputError: No tree, or one that the format cannot hold.
    """
    tree, texts = lines_of(document, "rs3")
    inner = constituents(tree)
    satellite_labels, nucleus_labels = (
        {f"{group}-{name}" for group, names in relations.items() for name in names}
        for relations in (_SATELLITE_RELATIONS, _MULTINUCLEAR_RELATIONS)
    )
    for item in inner:
        (nucleus_labels if item.nuclearity == "NN" else satellite_labels).add(item.relation)
    links, extra = _links(tree.edus, inner, satellite_labels & nucleus_labels)
    declared = [f'<rel name={quoteattr(label)} type="rst"/>' for label in satellite_labels]
    declared += [f'<rel name={quoteattr(label)} type="multinuc"/>' for label in nucleus_labels]
    kinds = ["multinuc" if item.nuclearity == "NN" else "span" for item in inner] + ["span"] * extra
    lines = ["<rst>", "\t<header>", "\t\t<relations>"]
    lines += [f"\t\t\t{relation}" for relation in sorted(declared)]
    lines += ["\t\t</relations>", "\t</header>", "\t<body>"]
    for index, text in enumerate(texts):
        lines.append(f'\t\t<segment id="{index + 1}"{links.get(index, "")}>{escape(text)}</segment>')
    for index, kind in enumerate(kinds, start=tree.edus):
        lines.append(f'\t\t<group id="{index + 1}" type="{kind}"{links.get(index, "")}/>')
    lines += ["\t</body>", "</rst>", ""]
    return "\n".join(lines)


def _links(edus: int, inner: list[Constituent], ambiguous: set[str]) -> tuple[dict[int, str], int]:
    """Return the attributes `parent` and `relname` of every child, and the number of additional span groups.

    Under a multinuclear parent, a satellite whose label may also be multinuclear would be read as a nucleus. An
    additional span group around that parent prevents it.
    """
    links: dict[int, str] = {}
    extra = 0
    for index, item in enumerate(inner, start=edus):
        if item.satellite is None:
            links.update((child, _link(index, item.relation)) for child in item.children)
            continue
        nucleus = item.nucleus
        if nucleus >= edus and inner[nucleus - edus].nuclearity == "NN" and item.relation in ambiguous:
            wrapper = edus + len(inner) + extra
            extra += 1
            links[nucleus] = _link(wrapper, "span")
            nucleus = wrapper
        links[nucleus] = _link(index, "span")
        links[item.satellite] = _link(nucleus, item.relation)
    return links, extra


def _link(parent: int, relation: str) -> str:
    return f' parent="{parent + 1}" relname={quoteattr(relation)}'


FORMATS.register("rs3", Format(dumps, loads))
