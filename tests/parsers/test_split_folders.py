"""Treebanks whose folders are the splits, as those of RST-DT, and the classes of its relations."""

import json

import pytest

from discsum.document import Document
from discsum.errors import InputError, InputWarning
from discsum.parsers.training.gold_splits import read_split
from discsum.parsers.training.splits import SplitConfig, read_treebank
from discsum.parsers.treebank import split_folders
from discsum.recipes import read_recipe
from discsum.relation_classes import RelationClasses
from discsum.tree import Node, RSTTree

pytestmark = pytest.mark.filterwarnings("ignore:.*sentences of .* are guessed")


def write(folder, *names):
    """Write small trees as RST-DT has them: `NAME.out.dis`, with the text in `NAME.out`."""
    for name in names:
        path = folder / f"{name}.out.dis"
        path.parent.mkdir(parents=True, exist_ok=True)
        tree = RSTTree(2, [Node(0, 1, 0, "NS", "elaboration-additional-e")])
        document = Document.from_edu_texts(
            [f"The gate of {path.parts[-2]} {path.name[:6]} broke,", "so it was shut."], tree
        )
        path.write_text(document.to_dis())
        path.with_suffix("").write_text(document.text)


def names_of(documents):
    return sorted(document.id for document in documents)


def test_folders_are_the_splits_and_dev_is_drawn_from_train(tmp_path, parser_folder):
    write(tmp_path, *(f"TRAINING/wsj_0{number}" for number in range(8)), "TEST/wsj_10", "TEST/wsj_11", "double/wsj_20")
    with pytest.warns(InputWarning, match=": 1 documents are in no split and are not used"):
        treebank = read_treebank(tmp_path, SplitConfig(dev=0.25))
    train, dev = names_of(treebank.train), names_of(treebank.dev)
    assert (len(train), len(dev)) == (6, 2) and all(name.startswith("TRAINING/") for name in train + dev)
    assert treebank.splits.names["test"] == ["TEST/wsj_10.out", "TEST/wsj_11.out"]
    # Also for a parser of another treebank.
    (found,) = read_split(tmp_path, "test", [parser_folder])
    assert names_of(found.documents) == ["TEST/wsj_10.out", "TEST/wsj_11.out"]
    with pytest.raises(InputError, match="expected the split 'dev', found test, train"):
        read_split(tmp_path, "dev", [parser_folder])
    for changed in ({"test": 0.2}, {"test": 0.0, "dev": 0.2}):
        with pytest.raises(InputError, match=r"its folders are the splits; leave out split\.test$"):
            read_treebank(tmp_path, SplitConfig(**changed))


@pytest.mark.parametrize(("folder", "use"), [("TRAINING", "training"), ("DEV", "validation")])
def test_documents_of_one_edu_alone_are_refused(tmp_path, folder, use):
    write(tmp_path, "TRAINING/a", "DEV/b")
    (tmp_path / folder / ("a.out.dis" if use == "training" else "b.out.dis")).unlink()
    path = tmp_path / folder / "short.json"
    path.write_text(json.dumps(Document.from_edu_texts(["The gate broke."], RSTTree(1, [])).to_json()))
    expected = rf"expected a {use} document of two or more EDUs, got only documents of one EDU \(1\)"
    with pytest.raises(InputError, match=expected):
        read_treebank(tmp_path, SplitConfig())


def test_a_draw_of_dev_leaves_documents_to_train_on(tmp_path):
    write(tmp_path, "TRAINING/a", "TEST/b")
    with pytest.raises(InputError, match="expected documents of the splits train and dev, got 0 and 1 of 2"):
        read_treebank(tmp_path, SplitConfig())
    write(tmp_path, "TRAINING/c")
    treebank = read_treebank(tmp_path, SplitConfig(test=0.1))
    assert not {*names_of(treebank.train)} & {*names_of(treebank.dev)}
    with pytest.raises(InputError, match="got 0 and 2 of 3"):
        read_treebank(tmp_path, SplitConfig(dev=0.89))


def test_a_dev_folder_is_the_dev_split(tmp_path):
    write(tmp_path, "train/a", "train/b", "validation/c", "test/d")
    treebank = read_treebank(tmp_path, SplitConfig())
    assert (names_of(treebank.train), names_of(treebank.dev)) == (["train/a.out", "train/b.out"], ["validation/c.out"])
    with pytest.raises(InputError, match=r"its folders are the splits; leave out split\.dev, split\.seed$"):
        read_treebank(tmp_path, SplitConfig(dev=0.3, seed=2))
    # A list of splits takes precedence.
    (tmp_path / "splits.tsv").write_text("a.out\ttrain\nd.out\tdev\n")
    with pytest.warns(InputWarning, match="splits.tsv: 2 documents are in no split"):
        assert names_of(read_treebank(tmp_path, SplitConfig()).dev) == ["test/d.out"]


def test_labels_of_a_list_of_splits(tmp_path):
    write(tmp_path, "a", "b", "c")
    (tmp_path / "splits.tsv").write_text("a.out\tTrain\nb.out\tvalidation\nc.out\tdev\n")
    assert names_of(read_treebank(tmp_path, SplitConfig()).dev) == ["b.out", "c.out"]
    for split in ("validation", "dev"):
        (gold,) = read_split(tmp_path, split, [tmp_path])
        assert names_of(gold.documents) == ["b.out", "c.out"]
    (tmp_path / "splits.tsv").write_text("a.out\ttrain\nb.out\tdef\n")
    told = "got 1 and 0 of 3; unknown splits: def"
    with pytest.warns(InputWarning), pytest.raises(InputError, match=told):
        read_treebank(tmp_path, SplitConfig())


def test_other_folders_are_no_splits():
    assert split_folders(["train", "a/b", "test/c", "test/d"]) == {}
    assert split_folders(["x/Train/a", "x/b", "x/Test/train/c"]) == {"train": ["x/Train/a"], "test": ["x/Test/train/c"]}


def test_classes_of_rst_dt():
    classes = RelationClasses.of([], read_recipe("parser-rst-dt")["classes"])
    for relation, expected in (
        ("elaboration-object-attribute-e", "elaboration"),
        ("List", "joint"),
        ("Cause-Result", "cause"),
        ("comment-topic", "topic-comment"),
        ("comment-e", "evaluation"),
        ("Topic-Drift", "topic-change"),
        ("TextualOrganization", "textual-organization"),
        ("Inverted-Sequence", "temporal"),
        ("attribution-n", "attribution"),
        ("Same-Unit", "Same-Unit"),
        ("means", "manner-means"),
        ("unknown-relation", "unknown-relation"),
    ):
        assert classes(relation) == expected
    assert len(set(classes.names.values())) == 17 and classes.kind.startswith("classes-")


@pytest.mark.filterwarnings("ignore:.*sentences of .* are guessed")
@pytest.mark.parametrize(("test", "least"), [(0.0, 2), (0.2, 3)])
def test_too_few_documents_to_draw_splits_from(tmp_path, test, least):
    write(tmp_path, *(f"all/{number}" for number in range(least - 1)))
    with pytest.raises(InputError, match=f"expected at least {least} documents to draw splits from, got {least - 1}$"):
        read_treebank(tmp_path, SplitConfig(test=test))
