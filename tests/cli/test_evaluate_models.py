"""Which models `discsum evaluate` loads, and which parser reads the texts for them."""

import json

import tiny

ROWS = [
    {"id": "a", "text": tiny.ARTICLE, "summary": "The mill broke."},
    {"id": "b", "text": "The river rose. The mill stopped. Rain came.", "summary": "The mill stopped."},
]


def test_texts_are_parsed_by_the_parser_of_the_trained_models(discsum, summarizer_folders, parser_folder, tmp_path):
    table, other = tmp_path / "table.jsonl", tmp_path / "other"
    table.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    tiny.make_parser(seed=3).save_pretrained(other)
    command = ("evaluate", "lead", summarizer_folders["sentence"], table, "--format", "json")
    found, same = discsum(*command), discsum(*command, "--parser", parser_folder)
    figures = [[one["rouge1"] for one in json.loads(result.out)["models"]] for result in (found, same)]
    told = "discsum: texts are parsed by tiny-chart, the parser of the trained models\n"
    assert figures[0] == figures[1] and found.err == told + same.err and "|parser:tiny-chart@" in found.out
    warned = discsum(*command, "--parser", other).err
    assert f"{summarizer_folders['sentence']}: measured on sentences, EDUs and trees of the parser tiny" in warned
    made = tmp_path / "DATA"
    assert discsum("preprocess", table, made, "--parser", other, "--encoder", "none").code == 0
    assert "measured on sentences, EDUs and trees of the parser" in discsum(*command[:3], made).err


def test_a_model_that_is_not_there_is_named_before_options(discsum, tmp_path):
    table = tmp_path / "table.jsonl"
    table.write_text(json.dumps(ROWS[0]) + "\n")
    result = discsum("evaluate", "lead", "gone/model", table, "--beams", 2)
    assert "gone/model" in result.err and "--beams" not in result.err
