"""Summarizers of EDUs whose confidences are averaged with those of their sentences."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
import tiny
from small_runs import trainer

from discsum.errors import InputError, WeightsError
from discsum.metrics.rouge import rouge
from discsum.recipes import read_recipe
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.training.recipe import SummarizerRecipe


def load(folders, share, sentences="sentence"):
    own = ExtractiveSummarizer.from_pretrained(folders["edu"])
    config = replace(own.config, sentence_model=str(folders[sentences]), sentence_share=share)
    return ExtractiveSummarizer(own.network, config, own.parser)


def odds(probabilities):
    return probabilities / (1 - probabilities)


def test_log_odds_are_averaged_with_those_of_the_sentence(summarizer_folders):
    own, sentences = (ExtractiveSummarizer.from_pretrained(summarizer_folders[unit]) for unit in ("edu", "sentence"))
    document = own.parser.parse(tiny.ARTICLE)
    edus, whole = own.score(document, "edu"), sentences.score(document, "sentence")
    owner = np.array([edu.sentence for edu in document.edus])
    assert len(set(owner)) < len(owner)
    found = load(summarizer_folders, 0.25).score(document, "edu")
    np.testing.assert_allclose(odds(found), odds(edus) ** 0.75 * odds(whole[owner]) ** 0.25)
    np.testing.assert_allclose(load(summarizer_folders, 0.0).score(document, "edu"), edus)
    np.testing.assert_allclose(load(summarizer_folders, 1.0).score(document, "edu"), whole[owner])
    model = load(summarizer_folders, 0.25)
    assert model.sentence_model.parser is model.parser
    assert load(summarizer_folders, 0.25).summarize("").text == ""


def test_parameters_of_both_count(summarizer_folders):
    own, sentences = (ExtractiveSummarizer.from_pretrained(summarizer_folders[unit]) for unit in ("edu", "sentence"))
    both = load(summarizer_folders, 0.5).parameter_count()
    assert both.whole == own.parameter_count().whole + sentences.parameter_count().whole
    assert both.attention == own.parameter_count().attention


def test_a_saved_model_finds_its_summarizer_of_sentences(summarizer_folders, tmp_path):
    ExtractiveSummarizer.from_pretrained(summarizer_folders["sentence"]).save_pretrained(tmp_path / "sentences")
    model = load({**summarizer_folders, "own": tmp_path / "sentences"}, 0.5, "own")
    expected = model.summarize(tiny.ARTICLE)
    model.save_pretrained(tmp_path / "edus")
    moved = tmp_path.with_name(f"{tmp_path.name}-moved")
    tmp_path.rename(moved)
    # Weights are stored as float16.
    found = ExtractiveSummarizer.from_pretrained(moved / "edus").summarize(tiny.ARTICLE)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-3)
    ExtractiveSummarizer.from_pretrained(summarizer_folders["edu"]).save_pretrained(moved / "sentences")
    with pytest.raises(WeightsError, match=r"expected the summarizer of sentences .*sentences with fingerprint"):
        ExtractiveSummarizer.from_pretrained(moved / "edus")


def test_another_parser_or_unit_is_refused(summarizer_folders):
    own = ExtractiveSummarizer.from_pretrained(summarizer_folders["edu"])
    document = own.parser.parse(tiny.ARTICLE)
    for name in (str(summarizer_folders["edu"]), "discsum-news-sentence"):
        model = ExtractiveSummarizer(own.network, replace(own.config, sentence_model=name), own.parser)
        with pytest.raises(WeightsError, match="expected a summarizer of sentences on trees of"):
            model.score(document, "edu")


def test_validation_uses_both(data, parser_folder, summarizer_folders, tmp_path):
    name, lines = str(summarizer_folders["sentence"]), []
    run = trainer(data, parser_folder, tmp_path / "run", epochs=1, unit="edu", sentence_model=name, report=lines.append)
    run.run()
    model = ExtractiveSummarizer.from_pretrained(tmp_path / "run" / "best")
    assert model.sentence_model is not None and model.sentence_model.unit == "sentence"
    examples = [run.task.validation[index] for index in range(len(run.task.validation))]
    summaries = ["\n".join(model.summarize(one.document, layout="keep").lines) for one in examples]
    expected = rouge(summaries, [one.references for one in examples]).mean
    assert run.task.validate() == pytest.approx({name: 100 * value for name, value in expected.items()}, abs=0.5)
    card = (tmp_path / "run" / "best" / "README.md").read_text(encoding="utf-8")
    assert f"averaged with those that `{name}` gives its sentence, whose share is 0.5." in " ".join(card.split())


def test_sentences_of_summarizers_of_sentences():
    with pytest.raises(InputError, match="sentence_model: expected none with unit sentence, got mine"):
        SummarizerRecipe.from_dict(read_recipe("news-sentence", ["sentence_model=mine"]))


def test_a_run_is_not_resumed_with_another_summarizer_of_sentences(data, parser_folder, summarizer_folders, tmp_path):
    sentences, settings = (
        tmp_path / "sentences",
        {"unit": "edu", "sentence_model": str(tmp_path / "sentences"), "stop_after": 1},
    )
    model = ExtractiveSummarizer.from_pretrained(summarizer_folders["sentence"])
    model.save_pretrained(sentences)
    trainer(data, parser_folder, tmp_path / "run", epochs=2, **settings).run()
    model.config = replace(model.config, units=1)
    model.save_pretrained(sentences)
    with pytest.raises(WeightsError, match=r"sentence_model: expected .*sentences with fingerprint .* began with, got"):
        trainer(data, parser_folder, tmp_path / "run", epochs=2, **settings)


def test_a_folder_of_sentences_beside_sentences_is_refused(summarizer_folders, tmp_path):
    folder = shutil.copytree(summarizer_folders["sentence"], tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config["summarizer"]["sentence_model"] = str(summarizer_folders["sentence"])
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match="sentence_model: expected none for the unit sentence, got"):
        ExtractiveSummarizer.from_pretrained(folder)
