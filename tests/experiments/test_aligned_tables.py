"""Tables of figures fit the terminal."""

import sys

import pytest

from discsum.experiments.report import aligned

CELLS = [["model", "R-1", "R-2", "words"], ["lead", "44.63", "21.53", "71.6"], ["random", "7.10", "6.60", "60.2"]]


def shown(columns: int, patch: pytest.MonkeyPatch) -> list[str]:
    patch.setattr(sys.stdout, "isatty", lambda: True)
    patch.setenv("COLUMNS", str(columns))
    return aligned(CELLS, "table").split("\n")


def test_a_table_wider_than_the_terminal_is_divided_by_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(20, monkeypatch) == [
        "model     R-1    R-2",
        "lead    44.63  21.53",
        "random   7.10   6.60",
        "",
        "model   words",
        "lead     71.6",
        "random   60.2",
    ]


@pytest.mark.parametrize("columns", [1, 13, 19, 20, 26])
def test_each_part_has_the_models_and_at_least_one_figure(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(columns, monkeypatch)
    assert max(map(len, lines)) <= max(columns, len("random  44.63"))
    heads = [line.split() for line in lines if line.startswith("model")]
    assert [name for head in heads for name in head[1:]] == CELLS[0][1:]
    assert all(len(head) > 1 for head in heads)


def test_a_table_that_fits_or_is_not_for_a_terminal_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = aligned(CELLS, "table")
    assert whole.split("\n") == shown(27, monkeypatch)
    assert len(whole.split("\n")) == 3
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    monkeypatch.setenv("COLUMNS", "20")
    assert aligned(CELLS, "table") == whole
