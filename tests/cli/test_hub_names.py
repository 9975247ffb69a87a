"""Commands with a model of the Hugging Face hub."""

import json
import shutil

from pretended_hub import pretend
from small_news import write_recipe, write_table


def test_results_of_another_version_of_a_model_are_refused(discsum, parser_folder, tmp_path, monkeypatch):
    texts, lines, model = tmp_path / "texts.jsonl", tmp_path / "lines.jsonl", tmp_path / "parser"
    texts.write_text('{"text": "It rained."}\n{"text": "The mill stopped."}\n')
    shutil.copytree(parser_folder, model)
    arguments = ("parse", texts, "--parser", "hf:me/parser", "--jsonl", "-o", lines)
    pretend(monkeypatch, tmp_path / "first", {"me/parser": model})
    assert discsum(*arguments).code == 0
    assert "2 skipped" in discsum(*arguments, "--resume").err
    (model / "config.json").write_text((model / "config.json").read_text() + "\n")
    pretend(monkeypatch, tmp_path / "second", {"me/parser": model})
    refused = discsum(*arguments, "--resume")
    assert refused.code == 1
    assert "expected results made with the same options" in refused.err


def test_from_a_dataset_to_an_uploaded_summarizer(discsum, parser_folder, article, tmp_path, monkeypatch):
    models = {"me/parser": parser_folder}
    pretend(monkeypatch, tmp_path / "cache", models)
    for name, first, last in (("train", 0, 20), ("validation", 50, 58)):
        write_table(tmp_path / f"{name}.jsonl", first, last)
        options = ("--parser", "hf:me/parser", "--encoder", "contextual")
        assert discsum("preprocess", tmp_path / f"{name}.jsonl", tmp_path / name, *options).code == 0
    network = {"inner": 16, "scorer": 8}
    recipe = write_recipe(tmp_path, "hf:me/parser", units=1, epochs=1, batch_size=8, synthesizer=network)
    folders = ["train=[{path: train}]", "validation=[{path: validation}]"]
    trained = discsum("train", recipe, *folders, "-o", tmp_path / "run")
    assert (trained.code, trained.err) == (0, "")
    # Read from another place, as by others who load it by its name.
    shutil.copytree(tmp_path / "run" / "best", tmp_path / "elsewhere" / "model")
    models["me/model"] = tmp_path / "elsewhere" / "model"
    summary = json.loads(discsum("extract", article, "--model", "hf:me/model", "--json").out)
    assert (summary["model"], len(summary["selected"])) == ("tiny-news", 1)
    scores = discsum("evaluate", "hf:me/model", "lead", tmp_path / "validation", "--units", "1", "--format", "json")
    assert scores.code == 0
    assert [one["model"] for one in json.loads(scores.out)["models"]] == ["hf:me/model", "lead"]
