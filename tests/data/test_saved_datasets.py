"""Dataset folders that `save_to_disk` of Hugging Face datasets wrote and that were damaged."""

import json
import re

import pytest

from discsum.data.failures import Failure
from discsum.data.inputs import count_inputs, read_inputs
from discsum.data.pairs import PairSource
from discsum.errors import InputError


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("state.json", "[" * 100_000, "expected JSON of at most 32 levels, got more"),
        ("state.json", {"_data_files": 5}, "_data_files: expected a list of values, got 5"),
        ("state.json", {"_split": 1}, "_split: expected a word, or null, got 1"),
        (
            "state.json",
            {"_data_files": [{"filename": "../table.arrow"}]},
            "_data_files[0].filename: expected the name of a file in this folder, got '../table.arrow'",
        ),
        ("dataset_info.json", {"features": {"text": 5}}, "features.text: expected a feature, got 5"),
        ("dataset_info.json", '{"features": "\xe9"}', "expected JSON in UTF-8"),
    ],
    ids=["deep", "files", "split", "elsewhere", "feature", "latin-1"],
)
def test_a_damaged_dataset_that_the_library_saved(tmp_path, name, change, message):
    datasets = pytest.importorskip("datasets")
    datasets.Dataset.from_dict({"text": ["Rain fell."], "summary": ["Rain."]}).save_to_disk(tmp_path / "saved")
    assert len(list(PairSource(str(tmp_path / "saved")).pairs())) == 1
    path = tmp_path / "saved" / name
    content = change if isinstance(change, str) else json.dumps(json.loads(path.read_text()) | change)
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")) as raised:
        list(PairSource(str(tmp_path / "saved")).pairs())
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("size", [0, 600])
def test_a_truncated_file_is_named(tmp_path, size):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"text": ["Rain fell."] * 9, "summary": ["Rain."] * 9})
    rows.save_to_disk(tmp_path / "saved", num_shards=3)
    path = tmp_path / "saved" / "data-00001-of-00003.arrow"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(InputError, match=re.escape(f"{path}: expected what save_to_disk of Hugging Face ")):
        list(PairSource(str(tmp_path / "saved")).pairs())


@pytest.mark.parametrize("name", ["saved", "splits"])
def test_inputs_without_references_are_refused_in_one_line(tmp_path, name):
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"text": ["Rain fell."]})
    (datasets.DatasetDict({"test": rows}) if name == "splits" else rows).save_to_disk(tmp_path / name)
    folder = str(tmp_path / name)
    (failure,) = read_inputs([folder])
    assert isinstance(failure, Failure) and failure.source == folder
    assert "got a dataset saved by save_to_disk" in failure.reason and "to_json" in failure.reason
    assert count_inputs([folder]) == 1
