"""`discsum abstract`."""

import json
import shutil

import pytest
import tiny
import torch
from safetensors.torch import load_file, save_file

from discsum.abstractive.sparse.costs import whole_below
from discsum.abstractive.sparse.selectors import SELECTORS
from discsum.abstractive.summarizer import AbstractiveSummarizer
from discsum.errors import InputError
from discsum.registry import Entry


@pytest.fixture
def abstract(discsum, bart_folder, parser_folder):
    def run(*arguments, **options):
        lengths = ("--min-tokens", 5, "--max-tokens", 12)
        return discsum("abstract", *arguments, "--model", bart_folder, "--parser", parser_folder, *lengths, **options)

    return run


def test_a_text_to_its_summary(abstract, article):
    result = abstract(article)
    assert (result.code, result.err) == (0, "")
    assert result.out.strip()
    data = json.loads(abstract(article, "--json", "--selector", "mean_key", "--r", 2).out)
    assert list(data) == ["id", "summary", "model", "selector", "r", "sentences", "read", "tokens", "truncated"]
    assert (data["selector"], data["r"], data["truncated"]) == ("mean_key", 2, False)
    settings = ("--beta", 5, "--per-beam", "--option", "feature_map=relu")
    data = json.loads(abstract(article, "--json", "--selector", "model_free", "--r", 2, *settings).out)
    assert (data["prior"], data["share_beams"], data["selector_feature_map"]) == (5, False, "relu")
    # Selecting all sentences is the same as full attention.
    assert abstract(article, "--selector", "ideal", "--r", 999).out == result.out


def test_several_documents_one_of_them_too_long(abstract, tmp_path):
    rows = [
        {"id": "a", "text": tiny.ARTICLE},
        {"id": "b", "text": "The mill broke. " * 200},
        {"id": "c", "text": "Rain."},
    ]
    table = tmp_path / "texts.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = abstract(table, "--json")
    assert result.code == 3
    assert [json.loads(line)["id"] for line in result.out.splitlines()] == ["a", "c"]
    assert "b: expected at most 600 tokens" in result.err and "--truncate" in result.err
    result = abstract(table, "--json", "--truncate")
    assert result.code == 0
    assert [json.loads(line)["truncated"] for line in result.out.splitlines()] == [False, True, False]


def test_a_model_without_a_default_length(discsum, bart_folder, parser_folder, tmp_path):
    (tmp_path / "a.txt").write_text(tiny.ARTICLE)
    (tmp_path / "b.txt").write_text("The mill broke.")
    given = ("abstract", tmp_path / "a.txt", tmp_path / "b.txt", "--model", bart_folder, "--parser", parser_folder)
    result = discsum(*given, "--json")
    assert result.code == 0
    told = f"discsum: {bart_folder}: expected max_new_tokens (--max-tokens), as the model has no default length; "
    assert result.err == told + "summaries end after 20 tokens\n"
    assert discsum(*given, "--max-tokens", 20, "--json").out == result.out
    result = discsum(*given, "--min-tokens", 21)
    assert "expected fewer than 21, where" in result.err


def test_a_model_that_writes_nothing(discsum, bart_folder, parser_folder, article, tmp_path):
    folder = shutil.copytree(bart_folder, tmp_path / "silent")
    weights = load_file(folder / "model.safetensors")
    _, end, _ = tiny.special_indices()
    weights["final_logits_bias"][0, end] = 1e4
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    result = discsum("abstract", article, "--model", folder, "--parser", parser_folder)
    assert (result.code, result.out) == (0, "\n")
    assert f"discsum: article: expected a summary, got an empty one from {folder}" in result.err


def test_the_tree_may_have_a_say(abstract, article):
    options = ("--json", "--selector", "mean_key", "--r", 1)
    ways = ((), ("--beta", 0), ("--beta", 1000), ("--beta", -1000))
    plain, none, for_it, against_it = (json.loads(abstract(article, *options, *more).out) for more in ways)
    assert none == plain | {"prior": 0}
    # A large beta selects the most central sentence at every step, a large negative one the least central.
    assert len({one["summary"] for one in (plain, for_it, against_it)}) == 3
    assert len({one["tokens"] for one in (plain, for_it, against_it)}) == 1


def test_own_selectors_with_parameters_are_trained_first(bart_folder, monkeypatch):
    class Recency(SELECTORS["mean_key"]):
        def __init__(self, shape):
            super().__init__(shape)
            self.bias = torch.nn.Parameter(torch.zeros(1))

    monkeypatch.setattr(SELECTORS, "registered", {"recency": Entry(Recency)})
    with pytest.raises(InputError, match="expected a model that was trained with the selector recency, got none"):
        AbstractiveSummarizer.from_pretrained(str(bart_folder), selector="recency", r=1)


def test_options_of_selectors(abstract, article):
    chosen = ("--selector", "model_free", "--r", 1, "--option")
    assert abstract(article, *chosen, "feature_map=relu").code == 0
    result = abstract(article, *chosen, "feature_map=gelu")
    assert (result.code, "feature_map: expected one of elu+1, exp, relu" in result.err) == (1, True)
    result = abstract(article, *chosen, "gelu")
    assert (
        result.code,
        "expected an option of a selector as key=value, got 'gelu'" in " ".join(result.err.split()),
    ) == (2, True)
    result = abstract(article, "--device", "nonsense")
    assert (result.code, "device (--device): expected a device that torch can use here" in result.err) == (2, True)
    result = abstract(article, "--beta", 1)
    assert (
        result.code,
        "beta: expected a selector that selects sentences, such as mean_key, got 'all'" in result.err,
    ) == (1, True)


def test_models_that_are_none(discsum, abstract, article, tmp_path):
    result = discsum("abstract", article)
    assert result.code == 2
    assert (
        "--model: expected a model's folder, or hf:NAME of one on the hub, such as hf:facebook/bart-large-cnn"
        in result.err
    )
    result = discsum("abstract", article, "--model", tmp_path)
    assert result.code == 1
    assert "expected the folder of a sequence-to-sequence model" in result.err
    result = abstract(article, "--selector", "best")
    assert result.code == 2
    assert "selector: expected one of all, attention_pooling" in result.err
    assert abstract(article, "--r", 0).code == 2


SEARCH = "generation_config.json"


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        (SEARCH, {"eos_token_id": "x"}, f"{SEARCH} or config.json: eos_token_id: expected a whole number from 0"),
        (SEARCH, {"decoder_start_token_id": 10**6}, "decoder_start_token_id: expected a whole number from 0"),
        (SEARCH, {"num_beams": "4"}, "num_beams: expected a whole number in [1, 1000], got '4'"),
        (SEARCH, {"num_beams": -1}, "num_beams: expected a whole number in [1, 1000], got -1"),
        (SEARCH, {"max_length": -1}, "max_length: expected a whole number"),
        (SEARCH, {"length_penalty": "x"}, "length_penalty: expected a number, got 'x'"),
        (SEARCH, {"temperature": 0, "do_sample": True}, "temperature: expected a number above 0, got 0"),
        (SEARCH, {"repetition_penalty": -1}, "repetition_penalty: expected a number above 0, got -1"),
        (SEARCH, {"bad_words_ids": [[10**6]]}, "bad_words_ids: expected a whole number from 0"),
        (SEARCH, {"bad_words_ids": "x"}, "bad_words_ids: expected a non-empty list"),
        (SEARCH, {"bad_words_ids": []}, "bad_words_ids: expected"),
        (SEARCH, {"bad_words_ids": [[]]}, "bad_words_ids: expected lists of at least one token"),
        (SEARCH, {"exponential_decay_length_penalty": [1.0]}, "exponential_decay_length_penalty: expected"),
        (SEARCH, {"typical_p": 0, "do_sample": True}, "typical_p: expected a number"),
        (SEARCH, {"max_length": 1}, "max_length: expected a whole number"),
        (
            SEARCH,
            {"num_beams": 5, "num_return_sequences": 5},
            "num_return_sequences: expected a whole number in [1, 1], got 5",
        ),
        (
            SEARCH,
            {"return_dict_in_generate": True, "output_scores": True},
            "return_dict_in_generate: expected no value",
        ),
        (
            SEARCH,
            {"watermarking_config": {"bias": "x"}},
            "watermarking_config: expected no value, because discsum does not",
        ),
        (SEARCH, {"num_beams": 4, "num_beam_groups": 2}, "num_beam_groups: expected a whole number in [1, 1], got 2"),
        (SEARCH, {"stop_strings": ["rain"]}, "stop_strings: expected no value, because discsum does not support it"),
        ("tokenizer_config.json", {"pad_token": None}, "expected a tokenizer with a padding token (pad_token)"),
        ("config.json", {"sparse_attention": {"selector": "gru", "r": 0}}, "config.json: r: expected a whole number"),
        ("config.json", {"sparse_attention": {"selector": "gru", "options": {"layers": 0}}}, "selector gru: layers: "),
        ("config.json", {"sparse_attention": {"selector": "own", "r": 2}}, "the selector 'own', which the model was"),
    ],
    ids=str,
)
def test_settings_of_a_model_that_are_none(
    discsum, bart_folder, parser_folder, article, tmp_path, file, changes, message
):
    folder = shutil.copytree(bart_folder, tmp_path / "bart")
    content = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(content | changes))
    result = discsum("abstract", article, "--model", folder, "--parser", parser_folder)
    assert (result.code, result.err.count("\n")) == (1, 1), result.err
    assert message in result.err


def test_an_extractive_model_is_for_extract(discsum, parser_folder, article, tmp_path):
    (tmp_path / "config.json").write_text('{"kind": "discsum-extractive", "format": 1}')
    result = discsum("abstract", article, "--model", tmp_path, "--parser", parser_folder)
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "expected a sequence-to-sequence model, got a discsum-extractive; use discsum extract --model" in result.err


def test_a_folder_without_a_tokenizer(discsum, bart_folder, parser_folder, article, tmp_path):
    folder = shutil.copytree(bart_folder, tmp_path / "bart")
    for path in folder.glob("*token*"):
        path.unlink()
    result = discsum("abstract", article, "--model", folder, "--parser", parser_folder)
    assert (result.code, result.out) == (1, "")
    assert "tokenizer" in result.err and "found none" in result.err


def test_a_tokenizer_of_a_larger_model(discsum, bart_folder, parser_folder, article, tmp_path):
    folder = shutil.copytree(bart_folder, tmp_path / "bart")
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    content["model"]["vocab"] = {word: index + 1000 * (index > 9) for word, index in content["model"]["vocab"].items()}
    path.write_text(json.dumps(content))
    result = discsum("abstract", article, "--model", folder, "--parser", parser_folder)
    assert result.code == 1
    assert "subwords, got the index 1" in result.err


def test_how_many_sentences_are_read(abstract, article, tmp_path):
    text = tmp_path / "long.txt"
    text.write_text("\n".join(f"The mill number {number} broke." for number in range(20)))
    few, whole = (
        abstract(text, "--json", "--sentences", "newline", "--selector", "mean_key", "--r", r) for r in (3, 4)
    )
    assert [json.loads(few.out)[name] for name in ("sentences", "r", "read")] == [20, 3, 3]
    assert few.err == ""
    # Selecting four of twenty sentences costs more than reading all twenty.
    assert [json.loads(whole.out)[name] for name in ("sentences", "r", "read")] == [20, 4, 20]
    said = "discsum: r (--r) 4: documents of fewer than 21 sentences are read whole, which is faster\n"
    assert whole.err == said
    assert abstract(text, article, "--selector", "mean_key", "--r", 4).err == said


def test_the_help_says_when_documents_are_read_whole(discsum):
    shown = " ".join(discsum("abstract", "--help").out.replace("│", " ").split())
    assert whole_below(10) == 42
    assert "A document of fewer than 3.5 * (r + 2) sentences, 42 for --r 10, is read whole" in shown


@pytest.mark.parametrize(
    "option", ["r=3", "device=cpu", "selector=ideal", "name_or_path=x", "untrained=true", "beta=1"]
)
def test_what_is_no_option_of_a_selector(abstract, article, option):
    result = abstract(article, "--selector", "mean_key", "--option", option)
    assert result.code == 2
    assert f"expected an option of the selector, got '{option.split('=')[0]}'" in result.err


def test_numbers_that_mean_nothing(discsum, bart_folder, parser_folder, article):
    def err(*arguments, code=1):
        result = discsum("abstract", article, "--model", bart_folder, "--parser", parser_folder, *arguments)
        assert result.code == code
        return " ".join(result.err.split())

    assert "r: expected a selector that selects sentences" in err("--r", 4)
    assert "(--per-beam): expected a selector that selects sentences, such as mean_key, got all" in err("--per-beam")
    assert "beta: expected a finite number" in err("--selector", "mean_key", "--beta", "nan")
    assert "expected one of its options (it has none), got dense_where_faster" in err(
        "--selector", "mean_key", "--option", "dense_where_faster=false"
    )
    assert "device (--device): expected a device that torch can use here" in err("--device", "meta", code=2)


def test_whether_beams_read_the_same_sentences_is_saved(bart_folder, tmp_path):
    summarizer = AbstractiveSummarizer.from_pretrained(str(bart_folder), selector="mean_key", r=2, share_beams=False)
    summarizer.model.save_pretrained(tmp_path)
    summarizer.tokenizer.save_pretrained(tmp_path)
    for given, expected in ((None, False), (True, True), (False, False)):
        model = AbstractiveSummarizer.from_pretrained(str(tmp_path), share_beams=given).model
        assert model.sparse.current.share_beams is expected


def test_another_selector_reads_as_many_sentences(bart_folder, tmp_path):
    summarizer = AbstractiveSummarizer.from_pretrained(str(bart_folder), selector="mean_key", r=2, share_beams=False)
    summarizer.model.sparse.dense_where_faster = False
    summarizer.save_pretrained(tmp_path)

    def settings(**given):
        found = AbstractiveSummarizer.from_pretrained(str(tmp_path), **given).selector
        return found.selector, found.r, found.share_beams, found.dense_where_faster

    assert settings(selector="ideal") == ("ideal", 2, False, False)
    assert settings(selector="ideal", r=3, share_beams=True) == ("ideal", 3, True, False)
    assert settings(selector="all") == ("all", None, False, False)
    with pytest.raises(InputError, match=r"--selector ideal: expected the number of sentences .*, got none; add --r"):
        AbstractiveSummarizer.from_pretrained(str(bart_folder), selector="ideal")


def test_signatures_name_what_changes_scores(bart_folder):
    def settings(**given):
        return AbstractiveSummarizer.from_pretrained(str(bart_folder), **given).family.settings()

    assert settings() == {"selector": "all"}
    named = {"selector": "model_free", "sentences_per_step": 2, "dense_where_faster": True}
    assert settings(selector="model_free", r=2, feature_map="elu+1") == named
    changes = {"prior": 0.5, "share_beams": False, "selector_feature_map": "relu"}
    assert settings(selector="model_free", r=2, beta=0.5, share_beams=False, feature_map="relu") == named | changes


def test_limits_that_contradict_each_other_are_told_once(discsum, bart_folder, article):
    result = discsum("abstract", article, article, "--model", bart_folder, "--min-tokens", 5, "--max-tokens", 3)
    told = "min_tokens (--min-tokens): expected at most max_tokens (--max-tokens) 3, got 5"
    assert (result.code, " ".join(result.err.split()).count(told)) == (2, 1)
