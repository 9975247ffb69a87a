"""Heads of one's own: how they are registered, and what is said of those that break the contract."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import numpy as np
import pytest
import torch

from discsum.encoder.heads import HEADS, Head, HeadConfig, register, register_file
from discsum.encoder.inputs import UnitInputs, batched, prior_tensors
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.errors import InputError
from discsum.registry import _entry_points
from discsum.tree import Node, RSTTree


class FirstHead(Head):
    """Every unit attends to the first one."""

    def forward(self, states, prior, mask):
        attention = torch.zeros(len(states), 1, states.shape[1], states.shape[1])
        attention[..., 0] = mask[:, None, :]
        return attention


@pytest.fixture
def own_heads(monkeypatch):
    monkeypatch.setattr(HEADS, "registered", dict(HEADS.registered))
    yield
    _entry_points.cache_clear()


@pytest.mark.usefixtures("own_heads")
def test_a_head_of_ones_own():
    register("first", FirstHead)
    register("first", FirstHead)
    network = Synthesizer(SynthesizerConfig("first", 16, inner=8, scorer=4)).eval()
    found = UnitInputs(0, torch.randn(5, 16), torch.zeros(5, 0), {})
    assert network(batched([found])).shape == (1, 5)
    assert HEADS["first"] is FirstHead
    with pytest.raises(InputError, match="expected a new name for a head, got 'dense', which is taken by DenseHead"):
        register("dense", FirstHead)
    with pytest.raises(InputError, match=r"other: expected a subclass of .*Head, got 5"):
        register("other", 5)


@dataclass(frozen=True)
class Reach:
    """Options of a head of one's own."""

    reach: int = 1


@pytest.mark.usefixtures("own_heads")
def test_options_of_a_head_are_checked():
    register("reaching", FirstHead, options=Reach)

    def problems(**settings):
        return SynthesizerConfig(**settings).head_problems()

    assert problems(head="reaching", head_options={"reach": 2}) == []
    assert problems(head="reaching", head_options={"reach": "two"}) == [
        "head_options.reach: expected a whole number, got 'two'"
    ]
    for head in ("dense", "c_tree"):
        assert problems(head=head, head_options={"dense_inner": 64}) == [
            "head_options.dense_inner: expected it outside head_options, as dense_inner"
        ]
    assert problems(head="dense", mixture=("c_tree",)) == ["mixture: expected none with head dense, got c_tree"]
    limited = type("Limited", (FirstHead,), {"problems": staticmethod(lambda config: ["reach: expected less"])})
    register("limited", limited)
    assert problems(head="mixed", heads=2, mixture=("limited", "none")) == ["reach: expected less"]


@pytest.mark.usefixtures("own_heads")
def test_a_head_of_an_installed_package(monkeypatch):
    entry = EntryPoint("first", f"{__name__}:FirstHead", "discsum.heads")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry] if group == entry.group else [])
    assert HEADS["first"].__name__ == "FirstHead"
    with pytest.raises(InputError, match=r"expected one of the heads c_tree, .*, first, got 'second'"):
        HEADS["second"]


@pytest.mark.usefixtures("own_heads")
def test_an_entry_point_that_does_not_load_is_one_line(monkeypatch):
    entry = EntryPoint("broken", "no_such_package.heads:Broken", "discsum.heads")
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [entry])
    with pytest.raises(InputError) as caught:
        HEADS["broken"]
    message = str(caught.value)
    assert message.startswith(
        "broken: expected the entry point no_such_package.heads:Broken of the group discsum.heads"
    )
    assert "ModuleNotFoundError: No module named 'no_such_package'" in message and "\n" not in message


@pytest.mark.usefixtures("own_heads")
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        (
            "gone.py",
            None,
            "expected a Python file that calls discsum.encoder.heads.register, got .*gone.py, which does not exist",
        ),
        ("text.txt", "1", "expected a Python file .*text.txt"),
        ("none.py", "x = 1", r"none.py: expected a call to discsum.encoder.heads.register, found none"),
        ("wrong.py", "import no_such_package", "wrong.py: expected code that runs, got ModuleNotFoundError: No module"),
        ("bad.py", "def (", "bad.py: expected code that runs, got SyntaxError"),
        (
            "taken.py",
            "from discsum.encoder.heads import Head, register\nclass A(Head): pass\nregister('dense', A)",
            "taken.py: expected a new name for a head, got 'dense'",
        ),
    ],
)
def test_files_of_heads_that_are_none(tmp_path, name, code, message):
    if code is not None:
        (tmp_path / name).write_text(code)
    with pytest.raises(InputError, match=message):
        register_file(tmp_path / name)


def test_attention_of_another_shape_is_named():
    class Flat(HEADS["none"]):
        def forward(self, states, prior, mask):
            return torch.eye(states.shape[1])

    states, values = torch.zeros(2, 3, 8), torch.zeros(2, 1, 3, 4)
    message = r"head Flat: expected attention of shape .*here \(2, 1 or 1, 3, 3\), got \(3, 3\)"
    with pytest.raises(InputError, match=message):
        Flat(HeadConfig(8)).mix(states, values, None, torch.ones(2, 3, dtype=torch.bool))


def uniform(states, mask):
    """Return attention to all units alike; at padding too."""
    return (mask[:, None, None, :] / mask.sum(-1)[:, None, None, None]).expand(-1, 1, states.shape[1], -1)


@pytest.mark.parametrize(
    ("attention", "message"),
    [
        (lambda states, mask: 2 * uniform(states, mask), "whose rows sum to 1, got a row with the sum 2; divide rows"),
        (lambda states, mask: uniform(states, mask) * torch.nan, "whose rows sum to 1, got a row with the sum nan"),
        (
            lambda states, mask: torch.full((1, 1, 3, 3), 1 / 3),
            r"of 0 at padding, where the mask is False, got 0\.333333; set it to 0 there",
        ),
    ],
)
def test_attention_that_is_no_weights_is_named_in_training(attention, message):
    class Wrong(HEADS["none"]):
        def forward(self, states, prior, mask):
            return attention(states, mask)

    head, mask = Wrong(HeadConfig(8)), torch.tensor([[True, True, True], [True, True, False]])
    arguments = torch.zeros(2, 3, 8), torch.zeros(2, 1, 3, 4), {}, mask
    head.eval().mix(*arguments)
    with pytest.raises(InputError, match=f"head Wrong: expected attention {message}"):
        head.train().mix(*arguments)


def test_padding_is_checked_in_the_first_batch_that_has_some():
    class Everywhere(HEADS["none"]):
        def forward(self, states, prior, mask):
            return torch.full((1, 1, 3, 3), 1 / 3)

    head, whole = Everywhere(HeadConfig(8)).train(), torch.ones(2, 3, dtype=torch.bool)
    arguments = torch.zeros(2, 3, 8), torch.zeros(2, 1, 3, 4), {}
    for _ in range(5):
        head.mix(*arguments, whole)
    with pytest.raises(InputError, match="head Everywhere: expected attention of 0 at padding"):
        head.mix(*arguments, torch.tensor([[True, True, True], [True, True, False]]))


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([[1.0]], r"prior\(units, config\)\['matrix'\] as a NumPy array of numbers or booleans, got list; convert it"),
        (torch.ones(1, 1), r"prior\(units, config\)\['matrix'\] as a NumPy array .*, got torch.Tensor; convert"),
        (np.ones((2, 2), ">f4"), r"prior\(units, config\)\['matrix'\] as .*, got an array of >f4; convert"),
        (np.array(["a"], dtype=object), r"prior\(units, config\)\['matrix'\] as .*, got an array of object; convert"),
    ],
)
def test_a_prior_of_something_else_is_named(found, message):
    with pytest.raises(InputError, match=f"head 'first': expected {message}"):
        prior_tensors("first", {"matrix": found})


@pytest.mark.filterwarnings("error")
def test_a_prior_may_be_an_array_of_the_tree():
    spans = RSTTree(2, [Node(0, 1, 0, "NS", "joint")]).spans
    found = prior_tensors("first", {"spans": spans})["spans"]
    found += 1
    assert (spans.tolist(), found.tolist()) == ([[0, 1, 0]], [[1, 2, 1]])


def test_a_prior_that_is_no_dictionary_is_named():
    with pytest.raises(InputError, match=r"head 'first': expected .* a dictionary of NumPy arrays, got NoneType; "):
        prior_tensors("first", None)


def test_a_prior_in_double_precision_is_one_in_single():
    found = prior_tensors("first", {"matrix": np.ones((2, 2)), "owner": np.ones(2, np.int64)})
    assert (found["matrix"].dtype, found["owner"].dtype) == (torch.float32, torch.int64)


def test_any_order_of_a_prior_array_is_taken():
    array = np.arange(6.0).reshape(2, 3)[::-1].T
    np.testing.assert_array_equal(prior_tensors("first", {"matrix": array})["matrix"], array)
