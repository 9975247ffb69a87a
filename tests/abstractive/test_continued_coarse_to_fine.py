"""Coarse-to-fine runs that start from a model, and model cards."""

import pytest
from small_training import recipe_fields, silent

from discsum.abstractive.coarse_to_fine import CoarseToFineConfig, CoarseToFineForConditionalGeneration
from discsum.abstractive.coarse_to_fine.card import card_of
from discsum.abstractive.coarse_to_fine.family import CoarseToFineFamily
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.abstractive.vocabulary import make_word_tokenizer, unknown_id
from discsum.errors import InputError

SIZES = {"embedding_size": 6, "hidden_size": 8, "filters": 8, "filter_width": 2}


@pytest.fixture(scope="module")
def subtrees(tmp_path_factory):
    """The folder of an untrained model with bags of words, positions, and subtrees as chunks."""
    folder = tmp_path_factory.mktemp("models") / "subtrees"
    kind = {"variant": "hier", "coarse": "bow", "positions": True, "chunks": "subtrees", "subtree_words": 9}
    tokenizer = make_word_tokenizer(["The mill stopped when the river rose."], 50, lowercase=True)
    special = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "bos", "eos")}
    config = CoarseToFineConfig(
        vocab_size=len(tokenizer), decoder_start_token_id=special["bos_token_id"], **special, **SIZES, **kind
    )
    CoarseToFineFamily(CoarseToFineForConditionalGeneration(config), tokenizer, "tiny").save(folder)
    return str(folder)


def continued(model, parser_folder, **fields):
    """Return the recipe of a run that starts from a model, and its family."""
    recipe = AbstractiveRecipe.from_dict(recipe_fields(parser_folder, family="coarse_to_fine", model=model, **fields))
    return recipe, CoarseToFineFamily.for_training(recipe, "cpu", lambda: [], silent)


def test_a_run_keeps_what_its_recipe_leaves_out(subtrees, parser_folder):
    recipe, family = continued(subtrees, parser_folder)
    assert family.config.to_dict() == CoarseToFineFamily.load(subtrees).config.to_dict()
    assert CoarseToFineFamily.needs_tree(recipe)
    family.parameter_groups(recipe)
    assert family.model.generation_config.suppress_tokens == [unknown_id(family.tokenizer)]
    assert not family.model.encoder.embeddings.weight.requires_grad
    assert not family.model.encoder.coarse.words.weight.requires_grad
    said = " ".join(family.card(recipe).model.split())
    assert "reads chunks (subtrees) and their words" in said and "the encoder's embeddings are frozen" in said
    assert "ReLU" not in said and "baseline" not in said and "sampled" not in said
    chosen = continued(subtrees, parser_folder, network={"variant": "c2f", "samples": 3})
    said = " ".join(chosen[1].card(chosen[0]).model.split())
    for part in ("chooses 3 of the chunks (subtrees)", "the baseline of each step is initialised to 0", "sampled"):
        assert part in said


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"network": {"coarse": "conv", "layers": 1}},
            r"network\.coarse: expected bow, which .* got conv; network\.layers",
        ),
        ({"network": {"samples": 2}}, "samples: expected none for the variant hier, got 2"),
        ({"pretrain": 1}, "pretrain, alternate: expected 0 for the variant hier, which reads all chunks"),
        ({"vocabulary": 9}, r"^vocabulary: expected at least the 11 words of .*, got 9$"),
        ({"lowercase": False}, "^lowercase: expected True, which .* was trained with, got False$"),
        ({"vectors": "vectors.txt"}, "^vectors: cannot be combined with model, which has its own vectors$"),
    ],
)
def test_what_a_model_does_not_take(fields, message, subtrees, parser_folder):
    with pytest.raises(InputError, match=message):
        continued(subtrees, parser_folder, **fields)


def test_cards_say_what_concerns_the_model():
    cards = {
        variant: " ".join(card_of(CoarseToFineConfig(variant=variant, chunks="8x10"), frozen=False).model.split())
        for variant in ("standard", "hier", "c2f")
    }
    assert "reads all words as one sequence" in cards["standard"] and "last word of the text" in cards["standard"]
    assert "ReLU" in cards["hier"] and "ReLU" not in cards["standard"]
    assert ["policy" in card for card in cards.values()] == [False, False, True]
    assert "chooses 1 of the chunks (8x10)" in cards["c2f"] and "product" not in cards["c2f"]


def test_bags_of_words_freeze_nothing_without_a_coarse_encoder(parser_folder):
    model = CoarseToFineForConditionalGeneration(CoarseToFineConfig(variant="standard", coarse="bow", vocab_size=20))
    recipe = AbstractiveRecipe.from_dict(
        recipe_fields(parser_folder, family="coarse_to_fine", network={"variant": "standard"})
    )
    CoarseToFineFamily(model, None, "tiny").parameter_groups(recipe)
    assert model.encoder.embeddings.weight.requires_grad
