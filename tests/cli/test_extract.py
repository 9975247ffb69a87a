import json

import pytest
import tiny

from discsum.baselines import BASELINES
from discsum.candidates import Candidates


@pytest.fixture
def extract(discsum, parser_folder):
    def run(*arguments, stdin=b""):
        return discsum("extract", *arguments, "--parser", parser_folder, stdin=stdin)

    return run


@pytest.mark.parametrize("unit", ["sentence", "edu"])
@pytest.mark.parametrize("model", [*BASELINES, "trained"])
def test_every_model_and_both_units(extract, article, summarizer_folders, parser, model, unit):
    name = summarizer_folders[unit] if model == "trained" else model
    result = extract(article, "--model", name, "--unit", unit, "--units", 2, "--json", "--no-dependencies")
    assert (result.code, result.err) == (0, "")
    data = json.loads(result.out)
    document = parser.parse(tiny.ARTICLE)
    assert list(data) == ["id", "summary", "lines", "unit", "model", "selected", "scores"]
    assert (data["id"], data["unit"]) == ("article", unit)
    assert data["model"] == (f"tiny-{unit}" if model == "trained" else model)
    assert len(data["scores"]) == len(document.units(unit))
    costs = Candidates.of(document, unit, skip_layout=True).unit_costs()
    assert 1 <= costs[[chosen["index"] for chosen in data["selected"]]].sum() <= 2
    for chosen in data["selected"]:
        assert list(chosen) == ["index", "start", "end", "score", "text"]
        span = document.units(unit)[chosen["index"]]
        assert (chosen["start"], chosen["end"]) == (span.start, span.end)
        assert chosen["text"] == tiny.ARTICLE[span.start : span.end]
        assert chosen["score"] == data["scores"][chosen["index"]]
    assert [chosen["index"] for chosen in data["selected"]] == sorted(chosen["index"] for chosen in data["selected"])
    printed = extract(article, "--model", name, "--unit", unit, "-n", 2, "--no-dependencies").out[:-1]
    # Sentences are printed one per line.
    assert data["summary"] == printed.replace("\n", " ")


def test_the_default_length(extract, article, parser):
    document = parser.parse(tiny.ARTICLE)
    sentences = json.loads(extract(article, "--model", "lead", "--json").out)["selected"]
    prose = [text for text, kind in zip(document.sentence_texts, document.layout, strict=True) if kind == "body"]
    assert [chosen["text"] for chosen in sentences] == prose[:3]
    kept = json.loads(extract(article, "--model", "lead", "--layout", "keep", "--json").out)["selected"]
    assert [chosen["text"] for chosen in kept] == list(document.sentence_texts[:3])
    edus = json.loads(extract(article, "--model", "lead", "--unit", "edu", "--json").out)["selected"]
    costs = Candidates.of(document, "edu", skip_layout=True).unit_costs()
    assert costs[[chosen["index"] for chosen in edus]].sum() == 6


def test_words_and_ratio(extract, article):
    words = len(tiny.ARTICLE.split())
    assert len(extract(article, "--model", "lead", "--words", 20).out.split()) <= 20
    assert len(extract(article, "--model", "lead", "--ratio", 0.5).out.split()) <= words / 2
    assert extract(article, "--model", "lead", "--words", 1).out.strip()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--units", 2, "--words", 20], "exactly one of units, words and ratio, got units 2 and words 20"),
        (["--words", 20, "--ratio", 0.5], "got words 20 and ratio 0.5; choose one"),
        (["--units", 0], "units: expected a whole number of at least 1, got 0"),
        (["--ratio", 1.5], "ratio: expected a number above 0 and at most 1, got 1.5"),
        (["--units", "two"], "Invalid value for '--units' / '-n'"),
        (["--unit", "word"], "expected one of sentence, edu, got 'word'"),
        (["--dependencies"], "dependencies: expected unit edu, got sentence"),
        (["--model", "tree-knapsack", "--block-trigrams"], "tree-knapsack, which selects all units at once"),
        (
            ["--model", "lead", "--redundancy", "4"],
            "redundancy: expected none with lead, which gives no probabilities",
        ),
        (
            ["--model", "textrank", "--brevity", ".1"],
            "brevity: expected none with textrank, which gives no probabilities",
        ),
        (["--sentences", "punkt"], "expected one of model, nltk, newline, got 'punkt'"),
    ],
)
def test_wrong_usage(extract, article, options, message):
    result = extract(article, "--model", "lead", *options)
    assert (result.code, result.out) == (2, "")
    assert message in result.err


def test_tidy(extract):
    text = b"When rain came,\nthe mill stopped;\nthe baker asked\n"
    options = ("-", "--model", "lead", "--unit", "edu", "--sentences", "newline", "-n", 1, "--no-dependencies")
    plain, tidy = extract(*options, stdin=text).out, extract(*options, "--tidy", stdin=text).out
    assert plain != tidy
    assert tidy[0].isupper() and tidy.endswith(".\n")


@pytest.mark.parametrize("text", ["", " \n "])
def test_an_empty_text_has_an_empty_summary(extract, summarizer_folders, text):
    for model in ("lead", "textrank", "marcu", summarizer_folders["sentence"]):
        result = extract("-", "--model", model, "--json", stdin=text.encode())
        assert (result.code, result.err) == (
            0,
            "discsum: stdin: expected some text, got none; its result is empty\n",
        )
        data = json.loads(result.out)
        assert (data["summary"], data["selected"], data["scores"]) == ("", [], [])


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_one_word_is_its_own_summary(extract, summarizer_folders, unit):
    for model in (*BASELINES, summarizer_folders[unit]):
        assert extract("-", "--model", model, "--unit", unit, stdin=b"Rain").out == "Rain\n"


def test_ids_with_combining_accents_name_files_with_composed_letters(extract, tmp_path):
    # An e and a combining acute accent, as macOS writes names.
    table = tmp_path / "t.jsonl"
    table.write_text(json.dumps({"id": "Cafe\u0301", "text": "It rained."}) + "\n")
    assert extract(table, "--model", "lead", "-o", tmp_path / "out").code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["Caf\u00e9.txt"]


def test_several_inputs(extract, article, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("Rain")
    lines = extract(article, other, "--model", "lead", "--json").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["article", "other"]
    assert extract(article, other, "--model", "lead", "-n", 1).out.endswith("== other\nRain\n")
    extract(article, other, "--model", "lead", "-o", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["article.txt", "other.txt"]
    assert (tmp_path / "out" / "other.txt").read_text() == "Rain\n"
    extract(article, other, "--model", "lead", "--json", "-o", tmp_path / "all.jsonl")
    assert len((tmp_path / "all.jsonl").read_text().splitlines()) == 2


def test_trees_keep_their_units(discsum, article, tmp_path, parser_folder, summarizer_folders):
    tree = tmp_path / "tree.json"
    discsum("parse", article, "-f", "json", "--edus", "newline", "-o", tree, "--parser", parser_folder)
    # A baseline needs no parser for a document with a tree.
    result = discsum("extract", tree, "--model", "marcu", "--unit", "edu", "--json", "--parser", "no-such-parser")
    assert result.code == 0
    data = json.loads(result.out)
    assert len(data["scores"]) == sum(bool(line.strip()) for line in tiny.ARTICLE.splitlines())
    result = discsum("extract", tree, "--model", summarizer_folders["edu"], "--unit", "edu", "--json")
    assert len(json.loads(result.out)["scores"]) == len(data["scores"])


def test_a_model_of_the_other_unit_is_refused(extract, article, summarizer_folders):
    result = extract(article, "--model", summarizer_folders["edu"], "--unit", "sentence")
    assert result.code == 1
    assert "expected a model that scores units of the kind sentence, got one for edu; add --unit edu" in result.err


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_unit_and_length_are_the_models_own(extract, article, summarizer_folders, unit):
    data = json.loads(extract(article, "--model", summarizer_folders[unit], "--json").out)
    assert data["unit"] == unit
    again = extract(article, "--model", summarizer_folders[unit], "--unit", unit, "--units", 2, "--json")
    assert json.loads(again.out) == data


def test_a_document_without_a_tree_is_parsed_over_its_own_edus(discsum, tmp_path, parser_folder):
    text = "The mill broke because the water rose."
    edus = [{"start": 0, "end": 14, "sentence": 0}, {"start": 15, "end": 38, "sentence": 0}]
    bare = {"id": "a", "text": text, "sentences": [{"start": 0, "end": 38}], "edus": edus, "nodes": None}
    path = tmp_path / "bare.json"
    path.write_text(json.dumps(bare))
    parsed = json.loads(discsum("parse", path, "--format", "json", "--parser", parser_folder).out)
    assert parsed["edus"] == edus
    assert len(parsed["nodes"]) == 1
    result = discsum("extract", path, "--model", "marcu", "--unit", "edu", "--units", 1, "--parser", parser_folder)
    assert (result.code, result.err) == (0, "")


def test_a_model_that_is_not_there_is_reported_once(extract, article):
    result = extract(article, article, "--model", "me/model")
    assert result.code == 1
    assert len(result.err.splitlines()) == 1
    assert "me/model: expected a model's folder, a shipped model (" in result.err
    assert result.err.endswith("found no such folder; a model on the hub is named hf:NAME\n")


@pytest.mark.parametrize("model", [*BASELINES, "trained"])
def test_odd_characters(extract, tmp_path, summarizer_folders, model):
    path = tmp_path / "odd.jsonl"
    path.write_text(json.dumps({"text": "The mill \ud800 broke.\x00\n\x07\n\uf0b7 Rain\u2028came. \u200b"}) + "\n")
    for unit in ("sentence", "edu"):
        name = summarizer_folders[unit] if model == "trained" else model
        result = extract(path, "--model", name, "--unit", unit, "--sentences", "newline", "--json")
        assert (result.code, result.err) == (0, "")
        assert json.loads(result.out)["summary"]


def test_a_trained_model_with_another_parser_is_refused(discsum, article, summarizer_folders, tmp_path):
    tiny.make_parser(seed=5).save_pretrained(tmp_path / "other")
    model = summarizer_folders["sentence"]
    result = discsum("extract", article, "--model", model, "--parser", tmp_path / "other")
    assert result.code == 2
    assert "its own parser" in result.err


def test_lines_that_parse_wrote_keep_their_trees(discsum, parser_folder, tmp_path):
    document = tiny.make_parser("distance").parse(tiny.ARTICLE, id="mill")
    path = tmp_path / "parsed.jsonl"
    path.write_text(json.dumps(document.to_json()) + "\n")
    found = discsum("parse", path, "--jsonl", "--parser", parser_folder)
    assert json.loads(found.out) == document.to_json()


def test_a_query(extract, article):
    data = json.loads(extract(article, "--model", "lead", "--query", "where is the market", "--json").out)
    assert data["query"] == "where is the market"
    assert len(data["model_scores"]) == len(data["query_scores"]) == len(data["scores"])
    refused = extract(article, "--query", "?")
    assert (refused.code, refused.out) == (2, "")
    assert "query: expected words" in refused.err


def test_tidying_sentences_is_told(extract, article):
    plain, tidied = (extract(article, "--model", "lead", *options) for options in ((), ("--tidy",)))
    assert (tidied.code, tidied.out) == (0, plain.out)
    assert tidied.err == "discsum: tidy: expected unit edu, got sentence; sentences are left as they are\n"


def test_files_with_the_same_name_are_told_in_json_lines(extract, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mill.txt").write_text(tiny.ARTICLE)
    (tmp_path / "other.txt").write_text(tiny.ARTICLE)
    output = tmp_path / "out.jsonl"
    result = extract(tmp_path / "a", tmp_path / "b", tmp_path / "other.txt", "--model", "lead", "--json", "-o", output)
    assert [json.loads(line)["id"] for line in output.read_text().splitlines()] == ["mill", "mill", "other"]
    assert (
        "found 1 document with the same id as another one, such as mill; a file's id is its name without" in result.err
    )
