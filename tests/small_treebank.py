"""Three texts with trees, as documents and as a folder in GUM's layout; and the path of GUM itself."""

from __future__ import annotations

import os
from pathlib import Path

from small_trees import document_of

from discsum.document import Document
from discsum.formats import dump
from discsum.tree import Node, RSTTree

DATA = Path(os.environ.get("DISCSUM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
GUM = DATA / "gum"
TREES = {
    "mill": (
        [["When the river rose,", "the miller stopped the wheel."], ["He said", "that the stones were old."]],
        [
            (0, 3, 1, "NS", "elaboration-additional"),
            (0, 1, 0, "SN", "context-circumstance"),
            (2, 3, 2, "SN", "attribution-positive"),
        ],
    ),
    "bread": (
        [["The baker bought flour", "because bread was cheap."], ["Nobody asked", "and nobody answered."]],
        [(0, 3, 1, "NN", "joint-sequence"), (0, 1, 0, "NS", "causal-cause"), (2, 3, 2, "NN", "joint-list")],
    ),
    "bridge": (
        [["If the bridge broke,", "the town would build a new one."], ["It was old."]],
        [(0, 2, 1, "NS", "elaboration-additional"), (0, 1, 0, "SN", "contingency-condition")],
    ),
}
SPLITS = {"mill": "train", "bread": "train", "bridge": "dev"}


def gold(name: str) -> Document:
    sentences, nodes = TREES[name]
    edus = sum(map(len, sentences))
    return document_of(sentences, RSTTree(edus, [Node(*node) for node in nodes]), id=name)


def write(folder: Path) -> None:
    for part in ("rst/lisp_binary", "dep"):
        (folder / part).mkdir(parents=True)
    for name in TREES:
        document = gold(name)
        (folder / "rst" / "lisp_binary" / f"{name}.dis").write_text(dump(document, "dis"), encoding="utf-8")
        # Each sentence is a paragraph.
        conllu = "".join(
            f"# newpar\n# newpar_block = p (1 s)\n# sent_id = {name}\n# text = {sentence}\n1\tword\n\n"
            for sentence in document.sentence_texts
        )
        (folder / "dep" / f"{name}.conllu").write_text(conllu, encoding="utf-8")
    (folder / "splits.tsv").write_text("".join(f"{name}\t{split}\n" for name, split in SPLITS.items()))
