from dataclasses import replace

import numpy as np
import pytest
import torch
from pretend_device import check_same
from small_trees import random_tree

from discsum.encoder.features import COUNT
from discsum.encoder.heads import HEADS, Head, HeadConfig, UnitTree
from discsum.encoder.heads.c_tree_relation import CLASSES, ROLES, roles_above
from discsum.encoder.inputs import UnitInputs, batched, padded
from discsum.encoder.synthesizer import InputBatch, Synthesizer, SynthesizerConfig
from discsum.errors import InputError, InputWarning
from discsum.priors import c_tree_nuc, c_tree_weighted, d_tree, project_to_sentences
from discsum.tree import Node, RSTTree, relation_class

LIMITED = ("dense", "learned_random", "fixed_random")
MIXTURE = ("dot_product", "c_tree_nuc", "dense", "c_tree_relation")


def config(head, **changes):
    sizes = {"width": 16, "inner": 32, "scorer": 8, "key_size": 4, "value_size": 5, "max_units": 20, "dense_inner": 6}
    if head == "mixed":
        sizes |= {"heads": len(MIXTURE), "mixture": MIXTURE}
    return SynthesizerConfig(head, **{**sizes, **changes})


def unit_tree(units, seed, sentences):
    """Return a tree over `units` EDUs, or over `units` sentences of several EDUs; one of more than two has none."""
    if not sentences:
        return UnitTree(random_tree(units, seed), np.sort(np.random.default_rng(seed).integers(0, 3, units)))
    owner = np.repeat(np.arange(units), np.random.default_rng(seed).integers(1, 4, units))
    owner = owner[owner != units // 2] if units > 2 else owner
    return UnitTree(random_tree(len(owner), seed), owner, units)


def inputs(head, units, seed, sentences=True, **changes):
    sizes = config(head, **changes)
    generator = torch.Generator().manual_seed(seed)
    arrays = HEADS[head].prior(unit_tree(units, seed, sentences), sizes.for_head())
    prior = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return UnitInputs(0, torch.randn(units, 16, generator=generator), torch.zeros(units, 0), prior)


def attend(head, batch):
    return head(batch.vectors, batch.prior, batch.mask)


@pytest.mark.parametrize("sentences", [False, True], ids=["edus", "sentences"])
@pytest.mark.parametrize("name", list(HEADS))
def test_rows_sum_to_one_and_mix_is_the_matrix_times_the_values(name, sentences):
    torch.manual_seed(1)
    head = HEADS[name](config(name).for_head()).eval()
    lengths = (7, 1, 12)
    batch = batched([inputs(name, units, seed, sentences) for seed, units in enumerate(lengths)])
    attention = attend(head, batch)
    for row, units in enumerate(lengths):
        torch.testing.assert_close(attention[row, :, :units].sum(-1), torch.ones(attention.shape[1], units))
        assert not attention[row, :, :units, units:].any()
    values = torch.randn(3, head.config.heads, 12, 5)
    mixed = head.mix(batch.vectors, values, batch.prior, batch.mask)
    expected = attention @ values
    for row, units in enumerate(lengths):
        torch.testing.assert_close(mixed[row, :, :units], expected[row, :, :units])


@pytest.mark.parametrize("name", list(HEADS))
def test_padding_changes_no_score(name):
    torch.manual_seed(2)
    network = Synthesizer(config(name)).eval()
    documents = [inputs(name, units, seed) for seed, units in enumerate((7, 3, 12))]
    together = batched(documents)
    noise = torch.where(together.mask[..., None], together.vectors, torch.randn_like(together.vectors))
    for batch in (together, InputBatch(noise, together.features, together.prior, together.mask)):
        scores = network(batch)
        for row, document in enumerate(documents):
            alone = network(batched([document]))[0]
            torch.testing.assert_close(scores[row, : len(alone)], alone)


@pytest.mark.parametrize("name", list(HEADS))
def test_a_document_of_padding_alone_changes_no_gradient(name):
    network = Synthesizer(config(name))
    network.eval()
    batch = batched([inputs(name, units, seed) for seed, units in enumerate((7, 3))])
    hidden = batch.mask & torch.tensor([[True], [False]])
    network(InputBatch(batch.vectors, batch.features, batch.prior, hidden))[hidden].sum().backward()
    found = {key: own.grad for key, own in network.named_parameters() if own.grad is not None}
    network.zero_grad()
    network(batched([inputs(name, 7, 0)])).sum().backward()
    for key, own in network.named_parameters():
        if own.grad is not None:
            torch.testing.assert_close(found[key], own.grad)


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16])
@pytest.mark.parametrize("name", list(HEADS))
def test_masks_of_numbers_and_other_precisions(name, kind):
    network, batch = Synthesizer(config(name)).eval(), batched([inputs(name, units, units) for units in (7, 3)])
    expected = network(batch)
    numbers = InputBatch(batch.vectors, batch.features, batch.prior, batch.mask.float())
    torch.testing.assert_close(network(numbers), expected)
    found = network.to(kind)(InputBatch(batch.vectors.to(kind), batch.features.to(kind), batch.prior, batch.mask))
    assert found.dtype == kind
    torch.testing.assert_close(found.float(), expected, atol=1e-6 if kind == torch.float64 else 0.1, rtol=0.05)


@pytest.mark.parametrize("name", list(HEADS))
def test_heads_on_another_device(name):
    network = Synthesizer(config(name, dropout=0.0, features=COUNT))
    documents = [inputs(name, units, seed) for seed, units in enumerate((7, 1, 12))]
    batch = batched([replace(one, features=torch.randn(len(one.vectors), COUNT)) for one in documents])
    check_same(network, lambda to: (network(to(batch)) * to(batch.mask)).square().sum())


@pytest.mark.parametrize("name", [name for name in HEADS if name != "mixed"])
def test_a_document_of_one_unit_attends_to_itself(name):
    head = HEADS[name](config(name).for_head()).eval()
    torch.testing.assert_close(attend(head, batched([inputs(name, 1, 0)])).flatten(), torch.ones(1))


@pytest.mark.parametrize("heads", [1, 3])
def test_dot_products_are_the_formula(heads):
    head = HEADS["dot_product"](config("dot_product", heads=heads).for_head())
    states = torch.randn(1, 6, 16)
    found = head(states, {}, torch.ones(1, 6, dtype=torch.bool))
    for index in range(heads):
        part = slice(4 * index, 4 * index + 4)
        query, key = head.query(states)[0, :, part], head.key(states)[0, :, part]
        torch.testing.assert_close(found[0, index], torch.softmax(query @ key.T / 2, dim=-1))


@pytest.mark.parametrize("name", LIMITED)
def test_heads_with_a_limit_say_so(name):
    head = HEADS[name](config(name).for_head())
    with pytest.raises(InputError, match="at most max_units=20 units, got 21"):
        attend(head, batched([inputs(name, 21, 0)]))


@pytest.mark.parametrize("name", [name for name in HEADS if name not in (*LIMITED, "mixed")])
def test_other_heads_have_none(name):
    head = HEADS[name](config(name).for_head())
    assert attend(head, batched([inputs(name, 700, 0)])).shape[-1] == 700


def test_a_fixed_matrix_is_no_parameter_but_is_saved():
    network = Synthesizer(config("fixed_random"))
    assert not any("logits" in name for name, _ in network.named_parameters())
    again = Synthesizer(config("fixed_random"))
    again.load_state_dict(network.state_dict())
    torch.testing.assert_close(again.layers[1].attention.logits, network.layers[1].attention.logits)
    assert not torch.equal(network.layers[0].attention.logits, network.layers[1].attention.logits)


@pytest.mark.parametrize("sentences", [False, True], ids=["edus", "sentences"])
def test_d_tree_has_one_root_a_sentence(sentences):
    units = unit_tree(9, 3, sentences)
    expected = d_tree(units.tree, units.edu_to_sentence)
    if sentences:
        expected = project_to_sentences(expected, units.edu_to_sentence, units.sentences)
    found = HEADS["d_tree"].prior(units, HeadConfig(16))["matrix"]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("sentences", [False, True], ids=["edus", "sentences"])
def test_relation_weights_start_as_nuclearity_weights(sentences):
    head = HEADS["c_tree_relation"](config("c_tree_relation").for_head())
    for seed in range(10):
        units = unit_tree(8, seed, sentences)
        expected = c_tree_nuc(units.tree)
        if sentences:
            expected = project_to_sentences(expected, units.edu_to_sentence, units.sentences)
        batch = batched([inputs("c_tree_relation", 8, seed, sentences)])
        # Also in training in half precision.
        for half in (False, True):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=half):
                torch.testing.assert_close(attend(head, batch)[0, 0], torch.from_numpy(expected))


def test_relations_are_those_of_gum_in_any_case():
    def roles(*relations):
        nodes = [Node(0, 2, 0, "NN", relations[0]), Node(1, 2, 1, "NS", relations[1])]
        return roles_above(RSTTree(3, nodes)).tolist()

    assert roles("Same-Unit", "Elaboration") == roles("same-unit", "elaboration-additional")
    with pytest.warns(InputWarning, match="head c_tree_relation: expected trees with relations of GUM's classes"):
        assert roles("List", "Comparison") == roles("other", "other")


def test_relation_weights_weigh_their_constituents_and_learn():
    head = HEADS["c_tree_relation"](config("c_tree_relation").for_head())
    with torch.no_grad():
        head.weights.copy_(torch.randn(ROLES))
    weights = torch.nn.functional.softplus(head.weights).tolist()
    tree = unit_tree(9, 4, False).tree

    def weight(parent, nucleus):
        if parent < 0:
            return weights[-1]
        return weights[CLASSES.index(relation_class(tree.nodes[parent].relation)) + (0 if nucleus else len(CLASSES))]

    of_nodes, of_edus = (
        [weight(*pair) for pair in zip(parents.tolist(), nucleus.tolist(), strict=True)]
        for parents, nucleus in zip(tree.parents, tree.nucleus, strict=True)
    )
    found = attend(head, batched([inputs("c_tree_relation", 9, 4, False)]))
    torch.testing.assert_close(found[0, 0], torch.from_numpy(c_tree_weighted(tree, of_nodes, of_edus)))
    (found * torch.randn_like(found)).sum().backward()
    used = {CLASSES.index(relation_class(node.relation)) for node in tree.nodes}
    for index in range(len(CLASSES)):
        learns = bool(head.weights.grad[[index, index + len(CLASSES)]].any())
        assert learns == (index in used)


def test_a_mixture_is_its_heads_side_by_side():
    head = HEADS["mixed"](config("mixed").for_head()).eval()
    batch = batched([inputs("mixed", 7, 1)])
    attention = attend(head, batch)
    for index, name in enumerate(MIXTURE):
        own = {key.removeprefix(f"{name}."): value for key, value in batch.prior.items() if key.startswith(name + ".")}
        torch.testing.assert_close(attention[:, index : index + 1], head.parts[index](batch.vectors, own, batch.mask))


@pytest.mark.parametrize(("mixture", "heads"), [((), 1), (("c_tree",), 2), (("c_tree", "mixed"), 2)])
def test_a_mixture_names_its_heads(mixture, heads):
    expected = f"mixture: expected names of single heads, as many as heads={heads}, got {', '.join(mixture) or 'none'}"
    with pytest.raises(InputError, match=expected):
        HEADS["mixed"](HeadConfig(16, heads=heads, options={"mixture": mixture}))
    assert SynthesizerConfig(head="mixed", heads=heads, mixture=mixture).head_problems() == [expected]


def test_an_unknown_head():
    with pytest.raises(InputError, match=r"c_tree_nuc.*got 'oak'; .*--head-file FILE.py.*discsum\.heads"):
        HEADS["oak"](HeadConfig(16))


@pytest.mark.parametrize("head", ["learned_random", "fixed_random"])
def test_random_attention_is_no_mean(head):
    torch.manual_seed(0)
    attention = HEADS[head](HeadConfig(16, heads=2, max_units=70)).forward(
        torch.zeros(1, 70, 16), {}, torch.ones(1, 70, dtype=torch.bool)
    )
    assert (attention * 70).max() > 5 and (attention * 70).min() < 0.2


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", list(HEADS))
def test_attention_is_checked_once(name, kind, monkeypatch):
    calls = []
    check = Head._check_rows
    monkeypatch.setattr(Head, "_check_rows", lambda *arguments: (calls.append(1), check(*arguments)))
    network = Synthesizer(config(name, layers=1)).to(kind)
    batch = batched([inputs(name, units, units) for units in (7, 1, 12)])
    batch = InputBatch(batch.vectors.to(kind), batch.features.to(kind), batch.prior, batch.mask)
    network.eval()(batch)
    assert not calls
    for _ in range(2):
        network.train()(batch)
    # Dot products are computed without the matrix.
    assert len(calls) == {"dot_product": 0, "mixed": len(MIXTURE) - 1}.get(name, 1)


@pytest.mark.parametrize(("kind", "empty"), [(torch.float32, 0), (torch.bool, False), (torch.int64, -1)])
def test_padding_by_kind_of_array(kind, empty):
    short, long = (torch.ones(size, dtype=kind) for size in (1, 3))
    found = padded([short, long])
    assert found.dtype == kind and found.tolist() == [[1, empty, empty], [1, 1, 1]]
