"""Writing of rs3 and rs4 files."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from discsum.document import Document
from discsum.erst import Place
from discsum.formats._constituents import Constituent, constituents
from discsum.formats._erst_elements import write_erst
from discsum.formats._plain_text import tree_and_texts
from discsum.formats._roots import split_roots

# The relations of GUM by class. If a tree has no others, its header lists all, and rstWeb offers them in its editor.
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


def dumps(document: Document, *, erst: bool = False) -> str:
    """Return the document's tree as an rs3 file, which is a valid rs4 file too; with `erst`, as an rs4 file.

    Raises:
        InputError: No tree, or one that the format cannot hold.
    """
    tree, texts = tree_and_texts(document, "rs4" if erst else "rs3", erst=erst)
    roots = [(edus, constituents(own, n_ary=True)) for edus, own in split_roots(tree)]
    satellite_labels, nucleus_labels = set[str](), set[str]()
    for item in (item for _, inner in roots for item in inner):
        (nucleus_labels if item.nuclearity == "NN" else satellite_labels).add(item.relation)
        satellite_labels |= {relation for _, relation in item.outer}
    if erst and document.erst:
        satellite_labels |= {edge.relation for edge in document.erst.edges} - nucleus_labels
    of_gum = [
        {f"{group}-{name}" for group, names in relations.items() for name in names}
        for relations in (_SATELLITE_RELATIONS, _MULTINUCLEAR_RELATIONS)
    ]
    if satellite_labels | nucleus_labels <= set.union(*of_gum):
        satellite_labels |= of_gum[0]
        nucleus_labels |= of_gum[1]
    elements = _Elements(tree.edus, satellite_labels & nucleus_labels)
    for edus, inner in roots:
        elements.add(edus, inner)
    header, body = write_erst(document.erst, elements.ids, document.label) if erst and document.erst else ([], [])
    declared = [f'<rel name={quoteattr(label)} type="rst"/>' for label in satellite_labels]
    declared += [f'<rel name={quoteattr(label)} type="multinuc"/>' for label in nucleus_labels]
    lines = ["<rst>", "\t<header>", "\t\t<relations>"]
    lines += [f"\t\t\t{relation}" for relation in sorted(declared)]
    lines += ["\t\t</relations>", *header, "\t</header>", "\t<body>"]
    for index, text in enumerate(texts):
        lines.append(f'\t\t<segment id="{index + 1}"{elements.links.get(index + 1, "")}>{escape(text)}</segment>')
    for id, kind in elements.groups.items():
        lines.append(f'\t\t<group id="{id}" type="{kind}"{elements.links.get(id, "")}/>')
    lines += [*body, "\t</body>", "</rst>", ""]
    return "\n".join(lines)


class _Elements:
    """The elements of a file.

    Attributes:
        groups: The kinds of the groups, by id.
        links: The attributes `parent` and `relname` of elements with a parent, by id.
        ids: The ids of the elements at each place of the tree.
    """

    def __init__(self, edus: int, ambiguous: set[str]) -> None:
        """Start with `edus` segments; `ambiguous` labels are used for satellites and also multinuclear."""
        self.groups: dict[int, str] = {}
        self.links: dict[int, str] = {}
        self.ids: dict[Place, int] = {(edu, edu): edu + 1 for edu in range(edus)}
        self.ambiguous = ambiguous
        self.next = edus + 1

    def add(self, edus: list[int], inner: list[Constituent]) -> None:
        """Add the constituents over the EDUs of one root.

        Under a multinuclear parent, a satellite whose label may also be multinuclear would be read as a nucleus. An
        additional span group around that parent prevents it.
        """
        ids = [edu + 1 for edu in edus] + [self.next + place for place in range(len(inner))]
        self.groups |= {
            id: "multinuc" if item.nuclearity == "NN" else "span"
            for id, item in zip(ids[len(edus) :], inner, strict=True)
        }
        self.next += len(inner)
        wrappers: list[int] = []
        for id, item in zip(ids[len(edus) :], inner, strict=True):
            if item.satellite is None:
                self.links.update((ids[child], _link(id, item.relation)) for child in item.children)
                continue
            nucleus = ids[item.nucleus]
            satellites = [(item.satellite, item.relation), *item.outer]
            multinuclear = self.groups.get(nucleus) == "multinuc"
            if multinuclear and any(relation in self.ambiguous for _, relation in satellites):
                wrappers.append(self.next)
                self.next += 1
                self.links[nucleus] = _link(wrappers[-1], "span")
                nucleus = wrappers[-1]
            self.links[nucleus] = _link(id, "span")
            self.links.update((ids[child], _link(nucleus, relation)) for child, relation in satellites)
        self.groups |= dict.fromkeys(wrappers, "span")
        self._place(edus, inner, ids)

    def _place(self, edus: list[int], inner: list[Constituent], ids: list[int]) -> None:
        # Bottom up: the first and last EDU of each child.
        ends = [(edu, edu) for edu in edus] + [(0, 0)] * len(inner)
        for place in range(len(inner) - 1, -1, -1):
            item = inner[place]
            below = [ends[child] for child in (*item.children, *(child for child, _ in item.outer))]
            ends[len(edus) + place] = min(below)[0], max(last for _, last in below)
            self.ids.setdefault(ends[len(edus) + place], ids[len(edus) + place])


def _link(parent: int, relation: str) -> str:
    return f' parent="{parent}" relname={quoteattr(relation)}'
