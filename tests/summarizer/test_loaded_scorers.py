"""Scorers themselves as models, in place of their names."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import tiny

import discsum
from discsum.data.input_source import InputSource
from discsum.data.part_maker import Division
from discsum.errors import InputError, WeightsError
from discsum.parsers.parser import Parser
from discsum.scoring import UnitScorer
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.loading import _loaded
from discsum.summarizer.options import SummaryOptions
from discsum.summarizer.parts import summary_job


class Longest(UnitScorer):
    name = "longest"

    def score(self, document, unit):
        return [span.end - span.start for span in document.units(unit)]


def test_threads_that_start_together_load_once(summarizer_folders, monkeypatch):
    made = []

    def slow(folder, **options):
        made.append(folder)
        time.sleep(0.2)
        return load(folder, **options)

    load = ExtractiveSummarizer.from_pretrained
    monkeypatch.setattr(ExtractiveSummarizer, "from_pretrained", slow)
    _loaded.cache_clear()
    folder = summarizer_folders["sentence"]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda text: discsum.summarize(text, model=folder, units=1).text, [tiny.ARTICLE] * 4))
    assert (len(made), len({*found})) == (1, 1)


@pytest.fixture(params=["sentence", "edu"])
def loaded(request, summarizer_folders):
    return summarizer_folders[request.param], ExtractiveSummarizer.from_pretrained(summarizer_folders[request.param])


def test_a_loaded_model_takes_all_options(loaded):
    folder, model = loaded
    options = {"words": 9, "redundancy": 0.5, "query": "the river"}
    by_name, found = (discsum.summarize(tiny.ARTICLE, model=one, **options) for one in (folder, model))
    assert found == by_name and found.queried.query == "the river"
    assert model.summarize(tiny.ARTICLE, **options) == by_name
    several = {"ratio": 0.5, "layout": "keep", "sentences": "newline", "tidy": model.unit == "edu"}
    texts = [tiny.ARTICLE, "It rained.\nWe left."]
    assert [*model.summarize_many(texts, ids=[1, 2], **several)] == [
        *discsum.summarize_many(texts, ids=[1, 2], model=folder, **several)
    ]


def test_options_of_loading_are_refused_by_a_loaded_model(loaded):
    _, model = loaded
    for given in ({"device": "cpu"}, {"unit": "edu"}):
        [name] = given
        message = rf"expected options among units, .*, query, got {name}; a loaded model has its own$"
        with pytest.raises(TypeError, match=message):
            model.summarize(tiny.ARTICLE, **given)
    with pytest.raises(InputError, match="expected exactly one of units, words and ratio, got units 2 and words 9"):
        model.summarize(tiny.ARTICLE, units=2, words=9)


def test_a_scorer_of_ones_own(parser_folder):
    text = "It rained. The mill was old and had no roof. We left."
    found = discsum.summarize(text, model=Longest(), units=1, parser=parser_folder, sentences="newline")
    assert (found.model, found.text) == ("longest", text)


def test_what_a_loaded_model_cannot_do_is_refused(loaded):
    _, model = loaded
    other = {"sentence": "edu", "edu": "sentence"}[model.unit]
    with pytest.raises(WeightsError, match=f"expected a model that scores units of the kind {other}"):
        discsum.summarize(tiny.ARTICLE, model=model, unit=other)
    with pytest.raises(
        InputError, match=r"expected neither with the loaded model .*, which has its own, got cpu and bf16"
    ):
        discsum.summarize(tiny.ARTICLE, model=model, precision="bf16")
    with pytest.raises(InputError, match="redundancy: expected none with longest, which gives no probabilities"):
        discsum.summarize(tiny.ARTICLE, model=Longest(), redundancy=0.5)
    with pytest.raises(TypeError, match=r"model: expected str, a discsum.scoring.UnitScorer or nothing, got int$"):
        discsum.summarize(tiny.ARTICLE, model=3)


def test_a_loaded_parser_in_place_of_its_name(parser_folder, loaded):
    parser = Parser.from_pretrained(parser_folder)
    texts = [tiny.ARTICLE, "It rained."]
    assert [*discsum.parse_many(texts, parser=parser)] == [*discsum.parse_many(texts, parser=parser_folder)]
    by_name, found = (
        discsum.summarize(tiny.ARTICLE, model="marcu", unit="edu", query="the river", parser=one)
        for one in (parser_folder, parser)
    )
    assert found == by_name
    folder, model = loaded
    assert discsum.summarize(tiny.ARTICLE, model=folder, parser=parser) == model.summarize(tiny.ARTICLE)


def test_a_loaded_parser_keeps_its_device_and_is_not_sent_to_workers(parser_folder, loaded, tmp_path):
    folder, _ = loaded
    parser, other = Parser.from_pretrained(parser_folder), tiny.make_parser(seed=3)
    message = f"expected neither with the loaded parser {parser.name}, which has its own, got cpu and bf16"
    with pytest.raises(InputError, match=message):
        discsum.parse("It rained.", parser=parser, precision="bf16")
    with pytest.raises(InputError, match=message):
        discsum.summarize("It rained.", model="lead", parser=parser, precision="bf16")
    with pytest.raises(InputError, match=f"reads the vectors of its own parser; leave {other.name} out"):
        discsum.summarize("It rained.", model=folder, parser=other)
    with pytest.raises(TypeError, match="parser: expected a name, by which workers load it, got Parser"):
        summary_job(InputSource([]), tmp_path / "parts", SummaryOptions(model="lead", parser=parser), Division())


def test_models_name_themselves(loaded):
    _, model = loaded
    assert repr(model).startswith(f"ExtractiveSummarizer(name={model.name!r}, unit={model.unit!r}, parser=")
    assert repr(model.parser).startswith(f"Parser(name={model.parser.name!r}, ")
