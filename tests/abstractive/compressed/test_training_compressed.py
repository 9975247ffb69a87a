"""Training runs of compressed encoders on a few small texts, and their use from the command line."""

import json

import pytest
import torch
from small_training import recipe_fields, silent, training_loop
from typer.testing import CliRunner

from discsum.abstractive.compressed.calls import Call
from discsum.abstractive.compressed.family import CompressedFamily
from discsum.abstractive.penalties import sentence_ends
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.sparse import sparsify
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.abstractive.training.encoding import encode
from discsum.abstractive.vocabulary import TAGS, unknown_id
from discsum.cli.app import app
from discsum.document import Document, Span
from discsum.errors import InputError
from discsum.persistence import CARD, CONFIG, WEIGHTS

NETWORK = {"width": 16, "layers": 2, "heads": 2, "inner": 16, "positions": 96, "dropout": 0.0}


def content(parser_folder, **changes):
    settings = {
        "family": "compressed",
        "network": NETWORK,
        # Smaller than the number of words, so that the rest must be copied.
        "vocabulary": 30,
        "source_tokens": 80,
        "target_tokens": 16,
        "epochs": 3,
        "learning_rate": 1e-2,
    }
    return recipe_fields(parser_folder, **settings | changes)


def trainer(data, parser_folder, folder, report=silent, **changes):
    return training_loop(content(parser_folder, **changes), data, folder, report)


@pytest.fixture(scope="module")
def begun(data, parser_folder, tmp_path_factory):
    """A short training run of a model that copies, with blocks of whole sentences."""
    encoder = {"variant": "strided_conv", "blocks": 3, "kernel": 2, "borders": "sentences"}
    run = trainer(data, parser_folder, tmp_path_factory.mktemp("runs") / "run", encoder=encoder, epochs=6)
    run.run()
    return run


@pytest.mark.parametrize(
    "encoder",
    [None, {"variant": "conv"}, {"variant": "conv_pool"}, {"variant": "strided", "blocks": 4, "borders": "edus"}],
    ids=str,
)
def test_every_encoder_learns_and_comes_back(encoder, data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path / "run", encoder=encoder)
    run.run()
    losses = [entry.validation["loss"] for entry in run.log]
    assert losses[-1] < losses[0]
    assert set(run.log[-1].validation) == {"loss", "cross_entropy", "accuracy"}
    # Curves of training: smoothing raises the loss above the cross-entropy.
    assert 0 <= run.log[-1].parts["accuracy"] <= 1 and 0 < run.log[-1].parts["cross_entropy"] < run.log[-1].loss
    loaded = CompressedFamily.load(str(tmp_path / "run" / "best"))
    assert loaded.encoder == run.task.recipe.encoder
    document = run.task.validation[0].document
    found, expected = (AbstractiveSummarizer(one).summarize(document) for one in (loaded, run.task.family))
    assert found.ids == expected.ids


def test_a_model_writes_words_that_it_can_only_copy(begun):
    summarizer = AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"))
    torch.nn.init.constant_(summarizer.model.copying.gate.bias, 1e4)
    documents = [begun.task.validation[index].document for index in range(3)]
    known = set(summarizer.tokenizer.get_vocab())
    unknown = set()
    for document, summary in zip(documents, summarizer.summarize_many(documents, num_beams=4), strict=True):
        words = set(document.text.lower().replace(".", " .").replace(",", " ,").split())
        written = summary.text.replace(".", " .").replace(",", " ,").split()
        assert set(written) <= words
        unknown |= set(written) - known
        assert summary.details == {"encoder": "strided_conv"}
    assert unknown


def test_a_document_alone_and_beside_others(begun):
    summarizer = AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"))
    documents = [begun.task.validation[index].document for index in range(3)]
    options = {"num_beams": 3, "max_new_tokens": 8}
    together = [(one.text, one.ids) for one in summarizer.summarize_many(documents, **options)]
    alone = [summarizer.summarize(one, **options) for one in documents]
    assert [(one.text, one.ids) for one in alone] == together


def test_the_unknown_word_is_not_written(begun):
    summarizer = AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"))
    unknown = unknown_id(summarizer.tokenizer)
    summarizer.model.model.shared.weight.data[unknown] *= 100
    documents = [begun.task.validation[index].document for index in range(3)]
    for summary in summarizer.summarize_many(documents, num_beams=2, max_new_tokens=12):
        assert unknown not in summary.ids


def test_a_copying_model_that_is_sparse_is_not_run_dense(begun, tmp_path):
    family = CompressedFamily.load(str(begun.folder / "best"))
    sparsify(family.model, selector="mean_key", r=1)
    family.save(tmp_path / "sparse")
    with pytest.raises(
        InputError, match="expected a model of the family compressed with its original cross-attention, got"
    ):
        AbstractiveSummarizer.from_pretrained(str(tmp_path / "sparse"))


def test_the_folder_says_what_the_model_is(begun, tmp_path):
    folder = begun.folder / "best"
    config = json.loads((folder / CONFIG).read_text())
    assert (config["discsum_family"], config["model_type"]) == ("compressed", "copy_pegasus")
    assert config["compressed_encoder"]["borders"] == "sentences"
    card = " ".join((folder / CARD).read_text().split())
    assert "3 overlapping blocks of the text, with one convolved key and value for every 2 tokens" in card
    assert "tags: [summarization, abstractive, compressed-encoder]" in card
    assert "Cross-entropy with label smoothing 0.1" in card


def test_summaries_with_tags_are_one_sentence_a_line(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path / "run", sentence_tags=True, epochs=1)
    run.run()
    family = CompressedFamily.load(str(tmp_path / "run" / "best"))
    tokenizer, document = family.tokenizer, run.task.validation[0].document
    target = family.target("It rained.\n\n The river  rose.\n")
    assert target == "<t> It rained. </t> <t> The river rose. </t>"
    # Words outside of the vocabulary are copied from the text; tags are never copied.
    text = Document("It rained. The river rose.", (Span(0, 10), Span(11, 26)))
    batch = encode(family, [text], [target], 80, 16)
    labels = batch.inputs["labels"][0].tolist()
    tags = [tokenizer.convert_tokens_to_ids(tag) for tag in TAGS]
    assert [labels.count(tag) for tag in tags] == [2, 2]
    read = tokenizer([text.text], return_tensors="pt")
    assert family.decode(batch.inputs["labels"], [text], read) == ["it rained.\nthe river rose."]
    # A sentence without its end tag, and an empty summary.
    assert family.decode(batch.inputs["labels"][:, : labels.index(tags[1])], [text], read) == ["it rained."]
    assert family.decode(batch.inputs["labels"][:, :0], [text], read) == [""]
    assert sentence_ends(tokenizer) >= set(tags)
    assert not set(AbstractiveSummarizer(family).summarize(document).text.split()) & set(TAGS)
    with pytest.raises(InputError, match=r"^sentence_tags: expected true as in .*best, got false$"):
        trainer(data, parser_folder, tmp_path / "other", model=str(tmp_path / "run" / "best"))


def test_dropout_is_of_attention_and_feed_forward_networks_too(parser_folder):
    recipe = AbstractiveRecipe.from_dict(
        content(parser_folder, network=NETWORK | {"dropout": 0.25}, encoder={"variant": "strided"})
    )
    family = CompressedFamily.for_training(recipe, "cpu", lambda: ["The mill stopped when the river rose."], silent)
    layers = [*family.model.get_encoder().layers, *family.model.get_decoder().layers]
    assert {(one.dropout, one.activation_dropout, one.self_attn.dropout) for one in layers} == {(0.25, 0.25, 0.25)}
    attention, tables = layers[0].self_attn, family.model.compressed.tables(torch.ones(1, 9, dtype=torch.bool))
    states = torch.randn(1, 9, 16)
    with family.model.compressed.within(Call(None, tables)):
        first, second, whole, again = (attention.train(mode)(states)[0] for mode in (True, True, False, False))
    assert not first.equal(second) and whole.equal(again)


class KilledError(Exception):
    """Raised to kill a run."""


def killed(line):
    if "step 3" in line:
        raise KilledError


def test_a_killed_run_goes_on(data, parser_folder, tmp_path):
    settings = {"encoder": {"variant": "conv"}, "validate_every": 3}
    with pytest.raises(KilledError):
        trainer(data, parser_folder, tmp_path / "killed", report=killed, **settings).run()
    for name in ("killed", "whole"):
        trainer(data, parser_folder, tmp_path / name, **settings).run()
    for file in (f"best/{WEIGHTS}", f"best/{CONFIG}", "log.json"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file


def test_training_goes_on_from_a_model(begun, data, parser_folder, tmp_path):
    model = str(begun.folder / "best")
    encoder = begun.task.recipe.encoder.to_dict()
    run = trainer(data, parser_folder, tmp_path / "run", model=model, encoder=encoder, learning_rate=1e-3, epochs=1)
    before = begun.best.validation["loss"]
    run.run()
    assert run.log[-1].validation["loss"] < before + 0.1
    with pytest.raises(InputError, match=r"encoder: expected that of .*best, \{.*'strided_conv'.*\}, got \{"):
        trainer(data, parser_folder, tmp_path / "other", model=model, encoder={"variant": "conv"})
    for fields, message in (
        ({"network": {"width": 32}}, r"^network\.width: expected 16, which .*best was trained with, got 32$"),
        ({"vocabulary": 20}, "^vocabulary: expected at least the 30 words of .*best, got 20$"),
        ({"lowercase": False}, "^lowercase: expected True, which .*best was trained with, got False$"),
    ):
        kept = {"network": {}, "model": model, "encoder": encoder}
        recipe = AbstractiveRecipe.from_dict(content(parser_folder, **kept | fields))
        with pytest.raises(InputError, match=message):
            CompressedFamily.for_training(recipe, "cpu", lambda: [], silent)
    kept = AbstractiveRecipe.from_dict(content(parser_folder, network={}, model=model, encoder=encoder))
    family = CompressedFamily.for_training(kept, "cpu", lambda: [], silent)
    assert family.model.config.d_model == 16
    assert "with one convolved key and value for every 2 tokens" in family.card(kept).model


def test_options_that_it_has_not(begun):
    with pytest.raises(InputError, match=r"expected no selector options .* got r, share_beams \(--per-beam\)"):
        AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"), selector=None, r=2, share_beams=False)
    with pytest.raises(InputError, match=r"got nonsense$"):
        AbstractiveSummarizer.from_pretrained(str(begun.folder / "best"), share_beams=True, nonsense=True)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"source_tokens": 97}, "source_tokens: expected at most network.positions 96, got 97"),
        ({"network": NETWORK | {"heads": 3}}, "width: expected an even multiple of 3 heads, got 16"),
        ({"vocabulary": 7}, "vocabulary: expected a whole number of at least 8, got 7"),
        ({"task": "infill"}, "task: expected summarize for the family compressed, got 'infill'"),
        (
            {"encoder": {"variant": "conv", "groups": 3}},
            "encoder.groups: expected a divisor of network.width",
        ),
        ({"encoder": {"variant": "blocks"}}, "encoder.variant: expected one of conv, conv_pool, strided, strided_conv"),
        ({"encoder": {"variant": "conv", "borders": "edus"}}, "encoder.borders: expected none for the variant conv"),
        ({"encoder": {"variant": "conv_pool", "blocks": 7}}, "encoder.blocks: expected none .* has no blocks, got 7"),
        (
            {"encoder": {"variant": "strided", "kernel": 5, "groups": 2}},
            "encoder.kernel: expected none .* convolves nothing, got 5; encoder.groups: expected none .* got 2",
        ),
    ],
)
def test_recipes_that_do_not_fit(changes, said, parser_folder):
    with pytest.raises(InputError, match=said):
        AbstractiveRecipe.from_dict(content(parser_folder, **changes))


def test_the_command_line(begun, parser_folder, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("The river rose in winter. Nobody thought of the old bridge.")
    given = ["abstract", str(text), "--model", str(begun.folder / "best"), "--parser", str(parser_folder), "--json"]
    penalties = ["--beams", "3", "--length-penalty", "0.9", "--coverage-penalty", "5", "--block-trigrams"]
    result = CliRunner().invoke(app, [*given, *penalties])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["encoder"] == "strided_conv"
    timed = ["analyze", "time", "--model", str(begun.folder / "best"), "--mode", "encoder", "--repeats", "1"]
    result = CliRunner().invoke(app, [*timed, "--input-tokens", "20", "-o", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "encoder-time.json").read_text())["samples"][0]["tokens"] == 20
