"""A small German treebank of fifteen stories that we wrote, in rs3, dis and rsd, with its own relations."""

from __future__ import annotations

from pathlib import Path

from discsum.document import Document
from discsum.formats import dump
from discsum.tree import Node, RSTTree

_PEOPLE = ("der Müller", "die Bäckerin", "der Fährmann", "die Lehrerin", "der Schmied")
_PLACES = ("am Ufer", "im Dorf", "auf dem Markt", "bei der Brücke", "hinter der Mühle")
_THINGS = ("das Rad", "das Boot", "das Tor", "das Dach", "den Ofen")
# Sentences of two EDUs; their relation follows from the connective.
_PATTERNS = (
    ("Weil {place} Wasser stand,", "reparierte {person} {thing}.", "SN", "ursache"),
    ("{Person} ging {place} vorbei,", "obwohl es schon dunkel war.", "NS", "einräumung"),
    ("{Person} kaufte neues Holz,", "damit {thing} niemand mehr sah.", "NS", "zweck:gut"),
    ("{Person} suchte {thing},", "und alle anderen halfen {place}.", "NN", "e-reihe"),
)
SUFFIXES = (".rs3", ".dis", ".rsd")
COUNT = 15


def story(number: int) -> Document:
    """Return a document of four sentences, of which the first two and the last two belong together."""
    texts, nodes = [], []
    for place in range(4):
        person = _PEOPLE[(number + place) % 5]
        values = {
            "person": person,
            "Person": person[0].upper() + person[1:],
            "place": _PLACES[(number * 2 + place) % 5],
            "thing": _THINGS[(number * 3 + place) % 5],
        }
        left, right, nuclearity, relation = _PATTERNS[(number + place * (1 + number % 3)) % 4]
        texts += [left.format(**values), right.format(**values)]
        nodes.append(Node(2 * place, 2 * place + 1, 2 * place, nuclearity, relation))
    nodes += [Node(0, 7, 3, "NS", "ausführung"), Node(0, 3, 1, "NN", "folge"), Node(4, 7, 5, "NN", "folge")]
    return Document.from_edu_texts(texts, RSTTree.from_unordered(8, nodes), id=f"text{number:02}")


def write(folder: Path) -> Path:
    """Write the stories to a folder, each in one of the formats, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(COUNT):
        document, suffix = story(number), SUFFIXES[number % 3]
        (folder / f"{document.id}{suffix}").write_text(dump(document, suffix[1:]), encoding="utf-8")
    return folder


def write_texts(folder: Path) -> None:
    for number in range(COUNT):
        document = story(number)
        (folder / f"{document.id}.txt").write_text("\n".join(document.sentence_texts) + "\n", encoding="utf-8")
