"""Commands with a model of the Hugging Face hub."""

import shutil

from pretended_hub import pretend


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
