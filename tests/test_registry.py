"""Registries know their entries by name without importing them; files and other packages can add entries."""

import importlib.metadata
import subprocess
import sys
from dataclasses import dataclass

import pytest
from typer.testing import CliRunner

from discsum.abstractive.sparse.selectors import SELECTORS, check_options, learned_selectors
from discsum.baselines import BASELINES
from discsum.cli.app import app
from discsum.data.engines import ENGINES
from discsum.document import Document
from discsum.encoder.heads import HEADS, HeadConfig
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.errors import InputError
from discsum.format_registry import FORMATS, readable, writable
from discsum.formats import dump, load, read_tree
from discsum.oracles import ORACLES, oracle_labels
from discsum.registry import Registry
from discsum.tree import Node, RSTTree

ALL = (HEADS, ORACLES, FORMATS, BASELINES, SELECTORS, ENGINES)
NAMES = {
    "head": "c_tree c_tree_confidence c_tree_nuc c_tree_relation d_tree dense dot_product fixed_random learned_random "
    "mixed none",
    "oracle": "bertsum discobert-edu kedzie rouge12-f",
    "format": "dis html json networkx nltk rs3 rs4 rsd svg tree",
    "baseline": "ilp lead marcu random textrank tree-knapsack",
    "selector": "attention_pooling gru ideal mean_key mean_variance min_max model_free random",
    "engine": "local ray",
}


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    for registry in ALL:
        monkeypatch.setattr(registry, "registered", dict(registry.registered))


@pytest.mark.parametrize("registry", ALL, ids=lambda registry: registry.kind)
def test_every_entry_registers_itself_under_the_name_of_its_file(registry):
    assert list(registry.own) == NAMES[registry.kind].split()
    for name in registry.own:
        registry.entry(name)
        assert registry.origin(name) == ""


def test_names_need_nothing_heavy():
    code = """
import sys
from discsum.abstractive.sparse.selectors import SELECTORS, names
from discsum.baselines import BASELINES
from discsum.cli.app import app
from discsum.data.engines import ENGINES
from discsum.encoder.heads import HEADS
from discsum.format_registry import readable, writable
from discsum.oracles import ORACLES
for registry in (SELECTORS, BASELINES, ENGINES, HEADS, ORACLES):
    assert list(registry)
print(writable(), readable(), sorted({"torch", "numpy"} & set(sys.modules)))
from discsum.format_registry import suffix, suffixes
known = suffixes()
print(*(name for name in sys.modules if name.startswith("discsum.formats.")))
assert known == {suffix(name): name for name in readable()}
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == (
        "['dis', 'html', 'json', 'rs3', 'rs4', 'rsd', 'svg', 'tree'] ['dis', 'json', 'rs3', 'rs4', 'rsd'] []\n\n"
    )


@pytest.mark.parametrize(
    ("registry", "name", "message"),
    [
        (
            HEADS,
            "c_tre",
            r"expected one of the heads c_tree, .*, got 'c_tre' \(did you mean c_tree\?\); to add a head, use "
            "--head-file",
        ),
        (ORACLES, "rouge12", r"expected one of the oracles bertsum, .*, got 'rouge12' \(did you mean rouge12-f\?\)$"),
        (FORMATS, "jsn", r"got 'jsn' \(did you mean json\?\)"),
        (BASELINES, "tree_knapsack", r"did you mean tree-knapsack\?"),
        (ENGINES, "x", r"expected one of the engines local, ray, got 'x'$"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(registry, name, message):
    assert name not in registry
    with pytest.raises(InputError, match=message):
        registry[name]


def test_an_unknown_selector_gets_a_suggestion():
    with pytest.raises(InputError, match=r"selector: expected one of all, .* \(did you mean mean_key\?"):
        check_options("mean_keys", {})
    assert learned_selectors() == ["attention_pooling", "gru"]


ORACLE = '''
from discsum.oracles import register

@register("first", units=2)
def first(units, references, k):
    """The first units."""
    return list(range(len(units)))[:k]
'''


def test_an_oracle_is_one_file(tmp_path):
    (tmp_path / "first.py").write_text(ORACLE)
    ORACLES.register_file(tmp_path / "first.py")
    assert oracle_labels("first", ["a", "b", "c"], "c").tolist() == [1, 1, 0]
    assert ORACLES.origin("first") == "first.py:first"
    with pytest.raises(InputError, match="expected a new name for an oracle, got 'kedzie', which is taken by kedzie"):
        ORACLES.register("kedzie", print)
    with pytest.raises(InputError, match="other: expected a class or function, got 5"):
        ORACLES.register("other", 5)


def test_a_file_that_fails_can_be_corrected(tmp_path):
    path = tmp_path / "second.py"
    path.write_text(ORACLE.replace('"first"', '"second"') + "\nraise ValueError\n")
    with pytest.raises(InputError, match="expected code that runs, got ValueError"):
        ORACLES.register_file(path)
    assert "second" not in ORACLES.registered
    path.write_text(ORACLE.replace('"first"', '"second"'))
    ORACLES.register_file(path)
    assert "second" in ORACLES.registered


FORMAT = '''"""lines: an EDU a line, without a tree."""
from discsum.document import Document
from discsum.formats import FORMATS, Format

def dumps(document):
    return "".join(f"{text}\\n" for text in document.edu_texts)

def loads(content, source=""):
    return Document.from_edu_texts(content.splitlines())

LINES = FORMATS.register("lines", Format(dumps, loads))
'''


def installed(folder, name, code, group, entry):
    """Write a package of one module, and the metadata that marks it as installed."""
    (folder / f"{name}.py").write_text(code)
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")


def test_the_metadata_of_packages_is_read_once(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    calls, found = [], importlib.metadata.entry_points
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: calls.append(group) or found(group=group))
    assert readable() == readable() == [name for name in writable() if name in readable()]
    assert calls == ["discsum.formats"]
    # A package that was installed since.
    installed(tmp_path, "lines_since", FORMAT, "discsum.formats", "since = lines_since:LINES")
    assert FORMATS["since"].loads("One\ntwo.\n").edu_texts == ("One", "two.")
    assert "since" in readable()


def test_a_format_of_an_installed_package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    installed(tmp_path, "lines_of_edus", FORMAT, "discsum.formats", "lines = lines_of_edus:LINES")
    assert "lines" not in writable(installed=False)
    assert "lines" in readable() and "lines" in writable()
    document = load("One\ntwo.\n", "lines")
    assert (document.edu_texts, document.parser, dump(document, "lines")) == (("One", "two."), "lines", "One\ntwo.\n")
    (tmp_path / "story.lines").write_text("One\ntwo.\n")
    assert read_tree(tmp_path / "story.lines").id == "story"
    tree = RSTTree(2, [Node(0, 1, 0, "NN", "joint-list")])
    (tmp_path / "story.json").write_text(dump(Document.from_edu_texts(["One", "two."], tree), "json"))
    result = CliRunner().invoke(app, ["parse", str(tmp_path / "story.json"), "--format", "lines"])
    assert (result.exit_code, result.stdout) == (0, "One\ntwo.\n")


HEAD = '''
from dataclasses import dataclass

import torch

from discsum.encoder.heads import Head, register

@dataclass(frozen=True)
class WindowOptions:
    reach: int = 1

@register("window", options=WindowOptions)
class WindowHead(Head):
    """Attends to the units nearby."""

    def forward(self, states, prior, mask):
        place = torch.arange(states.shape[1])
        near = (place[:, None] - place[None, :]).abs() <= self.config.read(WindowOptions).reach
        near = near[None] & mask[:, None, :]
        return (near / near.sum(dim=-1, keepdim=True))[:, None].to(states.dtype)
'''


def test_a_head_of_an_installed_package_has_options_of_its_own(tmp_path, monkeypatch):
    import torch

    monkeypatch.syspath_prepend(tmp_path)
    installed(tmp_path, "window_heads", HEAD, "discsum.heads", "window = window_heads:WindowHead")
    for options, seen in (({}, 2), ({"reach": 2}, 3)):
        network = SynthesizerConfig("window", 8, inner=8, scorer=4, head_options=options)
        assert network.head_problems() == []
        assert SynthesizerConfig(**network.to_dict()) == network
        head = Synthesizer(network).layers[0].attention
        matrix = head(torch.zeros(1, 5, 8), {}, torch.ones(1, 5, dtype=torch.bool))
        assert int((matrix[0, 0, 0] > 0).sum()) == seen
    wrong = SynthesizerConfig("window", 8, head_options={"reech": 2})
    assert wrong.head_problems() == ["head_options.reech: expected an option of window (reach) (did you mean reach?)"]
    assert "head_options" not in SynthesizerConfig().to_dict()


def test_each_head_reads_its_own_options():
    assert {name for name in HEADS.own if HEADS.entry(name).options} == {"dense", "mixed"}
    config = SynthesizerConfig("mixed", 8, heads=2, dense_inner=3, mixture=["dense", "none"]).for_head()
    dense = HEADS["mixed"](config).parts[0]
    assert dense.logits[0].out_features == 3
    assert HEADS["dense"](HeadConfig(8)).logits[0].out_features == 512


@dataclass
class Thing:
    """A thing."""


def test_a_registry_of_ones_own(tmp_path, monkeypatch):
    package = tmp_path / "things"
    package.mkdir()
    (package / "__init__.py").write_text("from test_registry import THINGS\n")
    (package / "base.py").write_text("")
    (package / "_shared.py").write_text("")
    (package / "old_one.py").write_text(
        '"""An old one."""\nfrom things import THINGS\n\n@THINGS.register(\n    "old-one",\n    worn=True,\n)\n'
        "def old():\n    return 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    things = Registry("thing", "things", "discsum.test.things", dashes=True)
    monkeypatch.setattr(sys.modules[__name__], "THINGS", things, raising=False)
    monkeypatch.setitem(sys.modules, "test_registry", sys.modules[__name__])
    assert list(things) == ["old-one"]
    assert "things.old_one" not in sys.modules
    assert things.entry("old-one").facts == {"worn": True}
    assert things["old-one"]() == 1
    assert things.register("new", Thing) is Thing and things.entry("new").value is Thing
    assert list(things) == ["old-one", "new"]
    again = type("Thing", (), {"__module__": Thing.__module__, "__qualname__": Thing.__qualname__})
    assert things.register("new", again, worn=True) is again and things.entry("new").facts == {"worn": True}
    with pytest.raises(InputError, match="expected a new name for a thing, got 'new', which is taken by Thing"):
        things.register("new", type("Other", (), {}))
