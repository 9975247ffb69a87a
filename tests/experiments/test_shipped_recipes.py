"""Shipped recipes, and recipes with a base."""

import re

import pytest
from documented import ROOT

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.encoder.synthesizer import Synthesizer
from discsum.errors import InputError
from discsum.experiments.rows import LEAD_FIGURES, ORACLE_FIGURES, low_resource_fields, table_rows
from discsum.parsers.training.card import GUM_LICENCES
from discsum.recipes import names, read_recipe, summaries
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.training.schedule import rate_factor

ROWS = [name for name in names() if re.fullmatch(r"xiao2020/(edu|sentence)-(default|balanced)-.*", name)]


def fields_of(content):
    return {key: value for key, value in content.items() if key not in ("kind", "data", "name", "paper")}


def write(path, text):
    path.write_text(text)
    return str(path)


def test_a_recipe_changes_fields_of_its_base(tmp_path):
    write(tmp_path / "low.yaml", "a: 1\ngroup: {x: 1, y: 2}\n")
    write(tmp_path / "middle.yaml", "base: low.yaml\nb: 2\n")
    path = write(tmp_path / "top.yaml", "base: middle.yaml\na: 5\ngroup: {y: 7}\n")
    assert read_recipe(path, ["group.z=1"]) == {"a": 5, "b": 2, "group": {"x": 1, "y": 7, "z": 1}}
    # As in a file, a group of fields leaves the others as they are.
    assert read_recipe(path, ["group={z: 1}", "group={x: 3}"])["group"] == {"x": 3, "y": 7, "z": 1}
    assert "group" not in read_recipe(path, ["group=null"])


def test_a_base_may_be_a_shipped_recipe(tmp_path):
    path = write(tmp_path / "mine.yaml", "base: xiao2020/sentence\nsteps: 7\n")
    content = read_recipe(path)
    assert (content["steps"], content["schedule"], "base" in content) == (7, "noam", False)


def test_bases_that_are_none(tmp_path):
    path = write(tmp_path / "a.yaml", "base: b.yaml\n")
    write(tmp_path / "b.yaml", "base: a.yaml\n")
    with pytest.raises(InputError, match="expected a recipe without a cycle of bases"):
        read_recipe(path)
    with pytest.raises(InputError, match=r"one of .*manakul2021.*, news-edu, .*xiao2020/\.\.\., got 'gone'"):
        read_recipe(write(tmp_path / "c.yaml", "base: gone\n"))


def test_every_row_of_both_tables_has_a_recipe():
    assert len(ROWS) == 36
    networks = set()
    for name in ROWS:
        content = read_recipe(name)
        unit, setting, head = content["name"].split("-")[:3]
        recipe = SummarizerRecipe.from_dict(fields_of(content))
        assert (recipe.unit, recipe.synthesizer.head) == (unit, head)
        assert (recipe.units, recipe.features) == ({"edu": 6, "sentence": 3}[unit], False)
        assert recipe.synthesizer.inner == {"default": 3072, "balanced": 512}[setting]
        assert recipe.learning_rate == pytest.approx(2e-3 * 2400**-0.5, rel=1e-3)
        assert recipe.betas == (0.9, 0.98)
        networks.add(repr(recipe.synthesizer))
        if setting == "balanced":
            assert Synthesizer(recipe.synthesizer).parameter_count().whole > 0
    assert len(networks) == 18


@pytest.mark.parametrize(("table", "unit"), [(3, "sentence"), (2, "edu")])
def test_the_low_resource_recipe_is_what_the_page_of_tables_describes(table, unit):
    # docs/tables.md names what was different when docs/scores was made.
    run = {"vectors": "isolated", "sample": 1000, "steps": 240, "validate_every": 40}
    run |= {"schedule": "cosine", "learning_rate": 1e-3, "average": 0.98, "betas": (0.9, 0.999)}
    whole = SummarizerRecipe.from_dict(fields_of(read_recipe(f"xiao2020/{unit}-low-resource")))
    row = f"xiao2020/{unit}-default-c_tree_nuc"
    changed = SummarizerRecipe.from_dict(fields_of(read_recipe(row, low_resource_fields(table))))
    assert changed == whole
    assert {name: getattr(whole, name) for name in run} == run
    assert not whole.synthesizer.scaled
    assert len(low_resource_fields(table)) == len(run) + 1
    assert read_recipe(row, [*low_resource_fields(table), "steps=3"])["steps"] == 3
    with pytest.raises(InputError, match="--table: expected 2 or 3, got 4"):
        low_resource_fields(4)


def test_lists_in_groups(tmp_path):
    source = [{"path": "a"}]
    mixture = ["dot_product", "c_tree"]
    path = write(tmp_path / "mixed.yaml", "synthesizer: {head: mixed, heads: 2, mixture: [dot_product, c_tree]}")
    content = read_recipe(path)
    recipe = SummarizerRecipe.from_dict({"train": source, "validation": source, **content})
    assert recipe.synthesizer.mixture == tuple(mixture)
    content = read_recipe(path, ["synthesizer.mixture=dense"])
    with pytest.raises(InputError, match=r"synthesizer\.mixture: expected a list of words, got 'dense'"):
        SummarizerRecipe.from_dict({"train": source, "validation": source, **content})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"synthesizer": {"heads": 0, "dropout": 2.0}},
            r"synthesizer\.heads: expected a whole number of at least 1, got 0; synthesizer\.dropout",
        ),
        ({"train": [{"path": "a", "weight": 0}]}, r"train\[0\]\.weight: expected a number above 0, got 0"),
        ({"seed": -1}, r"seed: expected a whole number in \[0, 4294967295\], got -1"),
        ({"encoder_layers": -2}, "encoder_layers: expected a whole number of at least 0, got -2"),
    ],
)
def test_values_that_are_none(changes, message):
    source = [{"path": "a"}]
    with pytest.raises(InputError, match=message):
        SummarizerRecipe.from_dict({"train": source, "validation": source} | changes)


OF_PAPERS = ("manakul2021/", "coarse-to-fine/", "faster-encoders/")
ABSTRACTIVE = (*OF_PAPERS, *(f"small-{name}" for name in OF_PAPERS), "small-bart/")


@pytest.mark.parametrize("name", [name for name in names() if name.startswith(ABSTRACTIVE)])
def test_abstractive_recipes_are_whole(name):
    content = read_recipe(name)
    recipe = AbstractiveRecipe.from_dict(
        {key: value for key, value in content.items() if key not in ("kind", "data", "name")}
    )
    assert content["kind"] == "abstractive"
    if name.startswith("manakul2021/"):
        # In steps of two documents, the peak is after 20,000 documents (appendix A.3).
        assert recipe.warmup * recipe.steps * recipe.batch_size == 20_000
        assert recipe.learning_rate == pytest.approx(0.002 * 20_000**-0.5, rel=0.01)


# Table 1 of Ling and Rush 2017: variant, coarse encoder, chunks, positions, samples, soft epochs, share of soft steps.
COARSE_TO_FINE = {
    "standard": ("standard", "conv", "10x40", False, 1, 0, 0.0),
    "hier": ("hier", "conv", "10x40", False, 1, 0, 0.0),
    "hier-bow": ("hier", "bow", "10x40", False, 1, 0, 0.0),
    "hier-pos": ("hier", "conv", "10x40", True, 1, 0, 0.0),
    "hier-5x80": ("hier", "conv", "5x80", False, 1, 0, 0.0),
    "hier-2x200": ("hier", "conv", "2x200", False, 1, 0, 0.0),
    "c2f": ("c2f", "conv", "10x40", False, 1, 0, 0.0),
    "c2f-pos": ("c2f", "conv", "10x40", True, 1, 0, 0.0),
    "c2f-multi2": ("c2f", "conv", "10x40", False, 2, 0, 0.0),
    "c2f-pos-multi2": ("c2f", "conv", "10x40", True, 2, 0, 0.0),
    "c2f-multi3": ("c2f", "conv", "10x40", False, 3, 0, 0.0),
    "c2f-pretrain": ("c2f", "conv", "10x40", False, 1, 1, 0.0),
    "c2f-alternate": ("c2f", "conv", "10x40", False, 1, 0, 0.5),
    # Our own variants.
    "c2f-sentences": ("c2f", "conv", "sentences", False, 2, 0, 0.0),
    "c2f-subtrees": ("c2f", "conv", "subtrees", False, 2, 0, 0.0),
}


@pytest.mark.parametrize("folder", ["coarse-to-fine", "small-coarse-to-fine"])
def test_every_row_of_coarse_to_fine_has_a_recipe(folder):
    assert {name for name in names() if name.startswith(f"{folder}/")} == {f"{folder}/{row}" for row in COARSE_TO_FINE}
    for row, expected in COARSE_TO_FINE.items():
        recipe = AbstractiveRecipe.from_dict(fields_of(read_recipe(f"{folder}/{row}")))
        network = CoarseToFineConfig(**recipe.network.settings)
        found = (network.variant, network.coarse, network.chunks, network.positions, network.samples)
        assert (*found, recipe.pretrain, recipe.alternate) == expected
        assert (recipe.target_lines, recipe.source_tokens, recipe.batch_size) == (1, 400, 20)
        assert (recipe.reinforce.discount, recipe.reinforce.scale, recipe.reinforce.baseline_rate) == (0.5, 0.3, 0.1)
        if folder == "coarse-to-fine":
            sizes = (network.embedding_size, network.hidden_size, network.layers, network.filters, network.dropout)
            assert sizes == (300, 500, 2, 600, 0.3)
            training = (
                recipe.optimizer,
                recipe.learning_rate,
                recipe.coarse_learning_rate,
                recipe.plateau,
                recipe.max_grad_norm,
                recipe.epochs,
            )
            assert training == ("sgd", 1.0, 0.1, 0.5, 5.0, 20)


# Tables 2 and 3 of Yap et al.: variant, blocks, kernel, borders; none for the baseline.
FASTER_ENCODERS = {
    "baseline": None,
    "conv": ("conv", 3, 3, None),
    "conv-pool": ("conv_pool", 3, 3, None),
    "strided": ("strided", 3, 3, None),
    "strided-conv": ("strided_conv", 3, 3, None),
    # Our own variants.
    "strided-4": ("strided", 4, 3, None),
    "strided-sentences": ("strided", 3, 3, "sentences"),
    "strided-edus": ("strided", 3, 3, "edus"),
}


@pytest.mark.parametrize("folder", ["faster-encoders", "small-faster-encoders"])
def test_every_row_of_faster_encoders_has_a_recipe(folder):
    assert {name for name in names() if name.startswith(f"{folder}/")} == {f"{folder}/{row}" for row in FASTER_ENCODERS}
    for row, expected in FASTER_ENCODERS.items():
        recipe = AbstractiveRecipe.from_dict(fields_of(read_recipe(f"{folder}/{row}")))
        encoder = recipe.encoder
        found = encoder and (encoder.variant, encoder.blocks, encoder.kernel, encoder.borders)
        assert found == expected
        assert (recipe.smoothing, recipe.betas, recipe.source_tokens) == (0.1, (0.9, 0.998), 400)
        if folder == "faster-encoders":
            network = recipe.network
            assert (network.width, network.layers, network.heads, network.dropout) == (512, 4, 8, 0.2)
            # Vaswani et al. 2017, section 5.3, with factor 2: the peak rate, after 8,000 steps.
            assert recipe.warmup * recipe.steps == 8000
            assert recipe.learning_rate == pytest.approx(2 * (512 * 8000) ** -0.5, rel=1e-3)
            for step in (1, 4000, 8000, 20_000, 40_000):
                factor = rate_factor((step - 1) / recipe.steps, recipe.warmup, recipe.steps, recipe.schedule)
                expected = 2 * 512**-0.5 * min(step**-0.5, step * 8000**-1.5)
                assert factor * recipe.learning_rate == pytest.approx(expected, rel=1e-3)
            assert recipe.target_tokens == 100


def test_both_students_learn_from_the_same_teachers_and_texts():
    first, last, large = (read_recipe(name) for name in ("parser-gum-first", "parser-gum", "parser-gum-large"))
    assert first["teachers"] == last["teachers"] == [f"runs/parser-gum-large-{seed}/best" for seed in (1, 2, 3)]
    assert first["texts"] == last["texts"]
    assert last["start"] == "runs/parser-gum-first/best"
    # The teachers learn from gold trees alone.
    assert (large["teachers"], large["texts"]) == ([], [])


def test_the_open_parser_leaves_out_the_genres_that_are_not_for_commercial_use():
    restricted = {genre for genre, licence in GUM_LICENCES.items() if "-NC" in licence}
    assert set(read_recipe("parser-gum-open")["split"]["leave_out"]) == {f"GUM_{genre}_*" for genre in restricted}


def test_the_documentation_has_the_licence_of_every_genre():
    text = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (.*) \|$", text, re.MULTILINE)
    stated = {genre: licence for genre, _, licence in rows if licence != "not stated"}
    assert stated == GUM_LICENCES
    kinds = {"open": 0, "restricted": 0, "not stated": 0}
    for _, documents, licence in rows:
        kinds["restricted" if "-NC" in licence else "open" if licence in stated.values() else licence] += int(documents)
    open_, restricted, unstated = kinds.values()
    assert f"Of the {sum(kinds.values())} training documents {open_} are CC BY\nor CC BY-SA, {restricted} are" in text
    assert f"and of {unstated} the licence is not stated" in text


def test_the_summarizer_of_edus_continues_that_of_sentences():
    edu, sentence = read_recipe("news-edu"), read_recipe("news-sentence")
    assert edu["start"] == sentence["name"]
    assert all(source in sentence["train"] for source in edu["train"])
    changed = {key for key in edu.keys() | sentence.keys() if edu.get(key) != sentence.get(key)}
    assert edu["sentence_model"] == sentence["name"]
    own = {"name", "unit", "units", "read_units", "start", "train", "encoder_learning_rate", "sentence_model"}
    assert changed == {*own, "brevity"}


def test_a_row_has_the_fields_of_its_unit_setting_and_head():
    content = read_recipe("xiao2020/edu-balanced-dot_product-8", ["seed=3"])
    assert (content["name"], content["unit"], content["units"], content["seed"]) == (
        "edu-balanced-dot_product-8",
        "edu",
        6,
        3,
    )
    sizes = {"key_size": 512, "value_size": 512, "inner": 512}
    assert content["synthesizer"] == {"head": "dot_product", "heads": 8, **sizes}
    rows = table_rows(2, ["balanced"])
    assert (rows[0].recipe, rows[0].label) == ("xiao2020/edu-balanced-dot_product-8", "Dot Product (8)")
    paper = {"rouge1": 40.95, "rouge2": 18.52, "rougeLsum": 37.78, "attention": 25.2, "parameters": 27}
    assert rows[0].paper == paper
    with pytest.raises(
        InputError, match=r"got 'xiao2020/edu-default-c_treee' \(did you mean xiao2020/edu-default-c_tree\?\)"
    ):
        read_recipe("xiao2020/edu-default-c_treee")


def test_what_the_paper_printed_is_in_order():
    for table, unit in ((2, "edu"), (3, "sentence")):
        for row in table_rows(table):
            assert row.paper["rouge1"] > row.paper["rougeLsum"] > row.paper["rouge2"]
            assert row.paper["parameters"] > row.paper["attention"]
        for figures in (LEAD_FIGURES[unit], ORACLE_FIGURES[unit]):
            assert figures["rouge1"] > figures["rougeLsum"] > figures["rouge2"]
    assert LEAD_FIGURES["sentence"] == {"rouge1": 40.30, "rouge2": 17.52, "rougeLsum": 36.54}


def test_every_recipe_has_a_first_line_for_help():
    found = {name: line for lines in summaries().values() for name, line in lines.items()}
    assert found.keys() >= {name for name in names() if name not in ROWS}
    assert all(line.endswith(".") and len(line) <= 110 for line in found.values()), found
