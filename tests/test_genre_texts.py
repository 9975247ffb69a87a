"""The texts of other genres: reading each kind of source, and the list of paragraphs taken from them."""

import gzip
import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "benchmarks"))
import genre_texts


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "sotu").mkdir()
    (tmp_path / "sotu" / "1901-Miller.txt").write_text("The mill\nturns.\n \nThe river\n\n\nrises.\n")
    (tmp_path / "anarchism").mkdir()
    (tmp_path / "anarchism" / "mill.html").write_text(
        "<head><p>unseen</p></head><h2>Mills</h2><p>Wheels <b>&amp; stones\nturn."
        "<p>Ice<ul><li>one<li> two </ul><p> </p>"
    )
    turns = "Baker: {vocalsound} Well , it 's cold .\nMiller: <pause>\nBaker: 10:30: I do n't , no ."
    tables = {
        "qmsum": [{"id": "mill-g0", "text": turns}],
        "papers": [
            {
                "id": "P1",
                "sections": [
                    {"title": "Wheels", "sentences": [f"S{number}." for number in range(7)]},
                    {"title": "", "sentences": ["Last."]},
                ],
            }
        ],
    }
    for name, records in tables.items():
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt") as out:
            out.writelines(json.dumps(record) + "\n" for record in records)
    return tmp_path


@pytest.mark.parametrize(
    ("genre", "name", "expected"),
    [
        ("speech", "1901-Miller.txt", ["The mill turns.", "The river", "rises."]),
        ("essay", "mill.html", ["Mills", "Wheels & stones turn.", "Ice", "one", "two"]),
        ("meeting", "mill-g0", ["Well, it's cold.", "10:30: I don't, no."]),
        ("paper", "P1", ["Wheels", "S0. S1. S2. S3. S4.", "S5. S6.", "Last."]),
    ],
)
def test_the_paragraphs_of_a_source(sources, genre, name, expected):
    assert genre_texts.READERS[genre](sources, name) == expected


def test_texts_are_those_listed(sources, monkeypatch, tmp_path):
    listed = tmp_path / "listed.tsv"
    monkeypatch.setattr(genre_texts, "LIST", listed)
    listed.write_text("speech\t1901-Miller.txt\t1\t2\npaper\tP1\t0\t1\n")
    assert list(genre_texts.texts(sources)) == [
        {"id": "speech/0", "text": "The river\n\nrises."},
        {"id": "paper/1", "text": "Wheels"},
    ]
    listed.write_text("speech\t1901-Miller.txt\t1\t2\npaper\tP1\t3\t2\n")
    with pytest.raises(SystemExit, match=r"listed\.tsv:2: expected 2 paragraphs from 3 on in P1, got 1"):
        list(genre_texts.texts(sources))


def test_other_texts_than_the_listed_are_not_written(sources, monkeypatch, tmp_path):
    listed = tmp_path / "listed.tsv"
    listed.write_text("speech\t1901-Miller.txt\t1\t2\n")
    monkeypatch.setattr(genre_texts, "LIST", listed)
    monkeypatch.setattr(sys, "argv", ["genre_texts.py", str(sources), str(tmp_path / "out.jsonl.gz")])
    with pytest.raises(SystemExit, match=r"expected the texts of sha256 .*: sources of other versions"):
        genre_texts.main()
    assert not (tmp_path / "out.jsonl.gz").exists()
    monkeypatch.setattr(genre_texts, "SHA256", hashlib.sha256(b"The river\n\nrises.").hexdigest())
    genre_texts.main()
    with gzip.open(tmp_path / "out.jsonl.gz", "rt") as lines:
        assert [json.loads(line) for line in lines] == [{"id": "speech/0", "text": "The river\n\nrises."}]


def test_no_paragraph_is_listed_twice():
    taken = defaultdict(set)
    lines = genre_texts.LIST.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 400
    for line in lines:
        genre, name, first, count = line.split("\t")
        assert genre in genre_texts.READERS
        paragraphs = range(int(first), int(first) + int(count))
        assert paragraphs
        assert taken[name].isdisjoint(paragraphs), line
        taken[name].update(paragraphs)
