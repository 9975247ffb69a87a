import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import tiny

import discsum
from discsum.encoder.inputs import unit_inputs
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import InputError, InputWarning, WeightsError
from discsum.scoring import ParsedDocument, extract
from discsum.selection import Budget, Policy
from discsum.summarizer.extractive import ExtractiveSummarizer

TEXTS = [tiny.ARTICLE, "The river rose. The mill stopped.", "", "Rain"]


@pytest.fixture(scope="module", params=["sentence", "edu"])
def summarizer(request, summarizer_folders):
    return ExtractiveSummarizer.from_pretrained(summarizer_folders[request.param])


def test_one_by_one_and_together(summarizer):
    together = list(summarizer.summarize_many(TEXTS, ids=list("abcd"), batch_size=3))
    assert [summary.document.id for summary in together] == list("abcd")
    for text, summary in zip(TEXTS, together, strict=True):
        alone = summarizer.summarize(text)
        assert alone.text == summary.text
        np.testing.assert_allclose(alone.scores, summary.scores, atol=1e-5)
        assert bool(summary.text) == bool(text.strip())


def test_unknown_options_and_documents_to_parse_are_named():
    with pytest.raises(TypeError, match=r"expected options among model, unit, .*, got unitz \(did you mean unit"):
        discsum.summarize("It rained.", unitz=3)
    with pytest.raises(TypeError, match=r"text: expected str, got Document; discsum.Parser.parse builds a tree over"):
        discsum.parse(discsum.Document("It rained."))


@pytest.mark.parametrize("model", ["lead", "ilp", "tree-knapsack"])
def test_a_unit_longer_than_the_summary_is_named(model, parser_folder):
    def summary(**length):
        return discsum.summarize(tiny.ARTICLE, model=model, unit="edu", parser=str(parser_folder), **length)

    with pytest.warns(InputWarning, match=r"'.*…': expected a summary of at most 1 words, got \d+: no unit that"):
        found = summary(words=1)
    assert len(found.selected) == 1
    assert "expected a summary of at most 1 words" in found.to_json()["warnings"][-1]
    summary(words=1000), summary(units=1)


def test_a_single_text_is_not_several(summarizer):
    with pytest.raises(TypeError, match="texts: expected several texts, got one str"):
        list(summarizer.summarize_many("Hi. It is."))


def test_sentences_of_documents_are_not_kept_in_silence(parser_folder):
    document = discsum.parse("It rained.\nThe mill stopped.", id="mill", parser=str(parser_folder))
    options = {"model": "lead", "units": 1, "parser": str(parser_folder), "sentences": "newline"}
    with pytest.warns(InputWarning, match="mill: expected a text for sentences='newline', got a document, which keeps"):
        assert discsum.summarize(document, **options).document.sentences == document.sentences
    bare = replace(document, sentences=(), edus=(), tree=None)
    assert len(discsum.summarize(bare, **options).document.sentences) == 2


def test_a_parsed_document_scores_like_its_text(summarizer):
    summary = summarizer.summarize(tiny.ARTICLE)
    again = extract(summary.document, summarizer, summarizer.policy())
    np.testing.assert_allclose(again.scores, summary.scores, atol=1e-5)


def test_sections_are_scored_one_by_one(summarizer):
    whole = summarizer.summarize(tiny.ARTICLE)
    encoded = summarizer.parser.encode([tiny.ARTICLE])[0]
    network = Synthesizer(replace(summarizer.network.config, max_units=3))
    short = ExtractiveSummarizer(network, summarizer.config, summarizer.parser)
    unit = short.config.unit
    sections = list(
        unit_inputs(encoded.document, unit, short.encoder.of(ParsedDocument(encoded.document), unit), network.config)
    )
    assert [section.first for section in sections] == list(range(0, len(whole.scores), 3))
    for section in sections:
        np.testing.assert_allclose(section.prior["matrix"].sum(dim=1), 1.0, atol=1e-6)
    assert len(short.scores([ParsedDocument(encoded.document)], unit)[0]) == len(whole.scores)


def test_a_saved_model_scores_the_same(summarizer, tmp_path):
    summarizer.save_pretrained(tmp_path / "copy", card="# A copy\n")
    copy = ExtractiveSummarizer.from_pretrained(tmp_path / "copy")
    # Weights are stored as float16.
    np.testing.assert_allclose(
        copy.summarize(tiny.ARTICLE).scores, summarizer.summarize(tiny.ARTICLE).scores, atol=1e-3
    )
    assert (tmp_path / "copy" / "README.md").read_text() == "# A copy\n"


def test_the_other_unit_is_refused(summarizer):
    other = "edu" if summarizer.config.unit == "sentence" else "sentence"
    document = summarizer.parser.parse(tiny.ARTICLE)
    with pytest.raises(InputError, match="name another model"):
        extract(document, summarizer, Policy(Budget(units=1), other))


def test_arguments_that_a_model_cannot_have(summarizer_folders):
    load = ExtractiveSummarizer.from_pretrained
    with pytest.raises(TypeError, match="from_pretrained: expected precison only with hf:NAME"):
        load(summarizer_folders["edu"], precison="bf16")
    with pytest.raises(
        WeightsError, match="expected a model that scores units of the kind sentence, got one for edu; add --unit edu"
    ):
        load(summarizer_folders["edu"], unit="sentence")
    assert load(summarizer_folders["edu"], unit="edu").unit == load(summarizer_folders["edu"]).unit == "edu"


def test_a_document_without_a_tree_has_no_scores(summarizer):
    document = replace(summarizer.parser.parse(tiny.ARTICLE), tree=None)
    with pytest.raises(InputError, match="tree"):
        summarizer.score(document, summarizer.unit)


def test_weights_of_another_architecture(summarizer, tmp_path):
    summarizer.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["synthesizer"]["inner"] = 24
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match=r"size mismatch"):
        ExtractiveSummarizer.from_pretrained(tmp_path)
    for name, message in (("inner", "expected the weights that config.json describes"), ("layers", r"in \[1, 1000\]")):
        changed = config | {"synthesizer": config["synthesizer"] | {name: 10**30}}
        (tmp_path / "config.json").write_text(json.dumps(changed))
        with pytest.raises(WeightsError, match=message):
            ExtractiveSummarizer.from_pretrained(tmp_path)
    del config["summarizer"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match=r"config\.json: summarizer: expected a group of fields"):
        ExtractiveSummarizer.from_pretrained(tmp_path)


def test_another_parser_in_the_place_of_its_own_is_refused(summarizer, tmp_path):
    shutil.copytree(summarizer.config.parser, tmp_path / "parser")
    near = ExtractiveSummarizer(
        summarizer.network, replace(summarizer.config, parser=str(tmp_path / "parser")), summarizer.parser
    )
    near.save_pretrained(tmp_path / "model")
    # The parser is found from any working directory: its path is stored relative to the model's folder.
    assert json.loads((tmp_path / "model" / "config.json").read_text())["summarizer"]["parser"] == "../parser"
    assert ExtractiveSummarizer.from_pretrained(tmp_path / "model").parser.fingerprint == summarizer.parser.fingerprint
    config = json.loads((tmp_path / "parser" / "config.json").read_text())
    config["network"]["edu_threshold"] = 0.25
    (tmp_path / "parser" / "config.json").write_text(json.dumps(config))
    with pytest.raises(WeightsError, match=r"expected the parser .* with fingerprint .* train the model again"):
        ExtractiveSummarizer.from_pretrained(tmp_path / "model")


def test_an_unknown_model():
    with pytest.raises(WeightsError, match="no-such-model"):
        ExtractiveSummarizer.from_pretrained("no-such-model")


@pytest.mark.parametrize("files", [[], ["tokenizer.json", "treebank.json"]], ids=["summarizer", "parser"])
def test_a_model_is_pushed_with_its_card(summarizer, files, monkeypatch):
    model = summarizer.parser if files else summarizer
    monkeypatch.setattr(model, "card", "# A card\n")
    if files:
        monkeypatch.setattr(model, "splits", b"{}")
    uploaded = {}

    def upload(self, *, folder_path, **options):
        uploaded.update({path.name: path.read_bytes() for path in folder_path.iterdir()})
        return "https://example.org"

    monkeypatch.setattr(
        "huggingface_hub.HfApi.create_repo", lambda self, **options: SimpleNamespace(repo_id="me/model")
    )
    monkeypatch.setattr("huggingface_hub.HfApi.upload_folder", upload)
    assert model.push_to_hub("me/model") == "https://example.org"
    assert set(uploaded) == {"config.json", "model.safetensors", "README.md", *files}
    assert uploaded["README.md"] == b"# A card\n"


def test_a_parser_that_is_none():
    for model in (discsum.Parser, ExtractiveSummarizer):
        with pytest.raises(TypeError, match=r"expected a model's name or folder, got 3$"):
            model.from_pretrained(3)
    with pytest.raises(TypeError, match=r"parser: expected a name, a folder or a Parser, got 3$"):
        discsum.parse("It rained.", parser=3)
    with pytest.raises(TypeError, match=r"parser: expected str, a Parser or nothing, got 3$"):
        discsum.summarize("It rained.", model="lead", parser=3)
