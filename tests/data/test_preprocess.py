import gzip
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tiny
import torch
from safetensors.torch import load_file, save_file

import discsum.data
from discsum.candidates import Candidates
from discsum.data.inputs import read_inputs
from discsum.data.locks import folder_lock
from discsum.data.manifest import Manifest
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.document import Document
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import InputError
from discsum.files import WRITING, process_scope
from discsum.oracles import oracle_labels
from discsum.parsers.parser import Parser
from discsum.parsers.unit_encoders import UnitEncoder
from discsum.summarizer.training.examples import UnitExamples, collate
from discsum.tree import RSTTree

SENTENCES = [
    "The river rose.",
    "The miller stopped the wheel because the water was high.",
    "Nobody came.",
    "It rained.",
]


def write_table(path, documents=10):
    rows = []
    for seed in range(documents):
        order = np.random.default_rng(seed).permutation(len(SENTENCES))
        rows.append(
            {"id": f"d{seed}", "article": " ".join(SENTENCES[i] for i in order), "highlights": SENTENCES[order[0]]}
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write_table(tmp_path_factory.mktemp("tables") / "news.jsonl")


def make(table, folder, parser_folder, workers=1, wait=False, report=lambda done: None, **changes):
    recipe = PreprocessRecipe(**({"parser": str(parser_folder), "encoder": "contextual", "shard": 3} | changes))
    source = PairSource(str(table))
    return make_all(
        preprocess_job(source.pairs(), source.identity(), folder, recipe),
        RunOptions(workers=workers, wait=wait, report=report),
    )


@pytest.fixture(scope="module")
def whole(table, parser_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("datasets") / "whole"
    make(table, folder, parser_folder)
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_dataset_is_its_documents(whole, table, parser_folder):
    rows = discsum.data.load(whole)
    parser = Parser.from_pretrained(parser_folder)
    assert [row["id"] for row in rows] == [f"d{number}" for number in range(10)]
    for row, line in zip(rows, table.read_text().splitlines(), strict=True):
        given = json.loads(line)
        document = parser.parse(given["article"], id=given["id"])
        assert {key: row[key] for key in ("id", "text", "parser", "sentences")} == {
            key: document.to_json()[key] for key in ("id", "text", "parser", "sentences")
        }
        assert row["edus"] == document.to_json()["edus"]
        assert row["references"] == [given["highlights"]]
        for unit, texts in (("sentence", document.sentence_texts), ("edu", document.edu_texts)):
            groups = Candidates.of(document, unit).groups
            labels = oracle_labels("rouge12-f", texts, given["highlights"], groups=groups)
            assert row[f"{unit}_labels"] == labels.tolist()
            assert len(row[f"{unit}_vectors"]) == len(texts) * 32 * 2
    manifest = Manifest.read(whole)
    assert (manifest.documents, manifest.failed, manifest.width, len(manifest.shards)) == (10, 0, 32, 4)


@pytest.mark.parametrize("unit", ["sentence", "edu"])
def test_examples_for_training(whole, parser_folder, unit):
    examples = UnitExamples(whole, unit, SynthesizerConfig("d_tree", width=32))
    parser = Parser.from_pretrained(parser_folder)
    first = examples[0]
    encoded = parser.encode([first.document.text])[0]
    expected = UnitEncoder.load("contextual", parser).of(encoded, unit)
    torch.testing.assert_close(first.inputs.vectors, expected, atol=2e-3, rtol=2e-3)
    batch = next(iter(torch.utils.data.DataLoader(examples, batch_size=4, collate_fn=collate)))
    assert batch.labels.shape[0] == 4
    assert batch.inputs.vectors.shape[2] == 32


@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_gives_the_same_bytes(whole, table, parser_folder, tmp_path, workers):
    make(table, tmp_path / "again", parser_folder, workers=workers)
    assert contents(tmp_path / "again") == contents(whole)


def killed_run(table, folder, parser_folder):
    make(table, folder, parser_folder, report=lambda done: time.sleep(0.5))


def test_a_run_killed_at_any_moment_ends_as_if_undisturbed(whole, table, parser_folder, tmp_path):
    folder = tmp_path / "killed"
    process = multiprocessing.get_context("spawn").Process(target=killed_run, args=(table, folder, parser_folder))
    process.start()
    while not (folder / "shard-00001.parquet").is_file():
        assert process.is_alive()
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert not (folder / "manifest.json").is_file()
    with pytest.raises(InputError, match="is not finished: run discsum preprocess again"):
        discsum.data.load(folder)
    kept = (folder / "shard-00000.parquet").stat().st_mtime_ns
    make(table, folder, parser_folder)
    assert (folder / "shard-00000.parquet").stat().st_mtime_ns == kept
    assert contents(folder) == contents(whole)


def test_a_finished_folder_has_nothing_left_to_do(whole, table, parser_folder):
    before = {path: path.stat().st_mtime_ns for path in whole.glob("*.parquet")}
    assert make(table, whole, parser_folder, report=pytest.fail).documents == 10
    assert {path: path.stat().st_mtime_ns for path in whole.glob("*.parquet")} == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"oracle": "bertsum"}, "oracle 'rouge12-f' there and 'bertsum' here"),
        ({"shard": 5}, "shard 3 there and 5 here"),
    ],
)
def test_a_folder_made_with_other_options_is_refused(whole, table, parser_folder, changes, message):
    with pytest.raises(InputError, match=message):
        make(table, whole, parser_folder, **changes)


def test_other_documents_are_refused(whole, parser_folder, tmp_path):
    with pytest.raises(InputError, match=r"documents .*sha256.* there and"):
        make(write_table(tmp_path / "news.jsonl", 11), whole, parser_folder)


def test_a_second_run_at_once_is_refused(table, parser_folder, tmp_path):
    with folder_lock(tmp_path), pytest.raises(InputError, match="another run is using it; wait for that run to end"):
        make(table, tmp_path, parser_folder)


def test_another_run_can_be_waited_for(whole, table, parser_folder, tmp_path):
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(make, table, tmp_path / "one", parser_folder, wait=True) for _ in range(4)]
        assert {run.result().documents for run in runs} == {10}
    assert contents(tmp_path / "one") == contents(whole)
    # A finished folder has nothing to wait for.
    with folder_lock(whole):
        assert make(table, whole, parser_folder).documents == 10


def test_a_mistyped_option_binds_nobody(table, parser_folder, tmp_path):
    recipe = PreprocessRecipe(str(parser_folder))
    wrong, right = PairSource(str(table), text_column="body"), PairSource(str(table))
    with pytest.raises(InputError, match="expected a column body"):
        make_all(preprocess_job(wrong.pairs(), wrong.identity(), tmp_path, recipe))
    assert make_all(preprocess_job(right.pairs(), right.identity(), tmp_path, recipe)).documents == 10


def slow_run(table, folder, parser_folder):
    make(table, folder, parser_folder, workers=2, shard=1)


def test_workers_do_not_outlive_who_started_them(table, parser_folder, tmp_path):
    process = multiprocessing.get_context("spawn").Process(target=slow_run, args=(table, tmp_path / "o", parser_folder))
    process.start()
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (tmp_path / "o" / "shard-00000.parquet").is_file():
        assert process.is_alive()
        time.sleep(0.01)
    workers = children.read_text().split()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert len(workers) >= 2
    deadline = time.monotonic() + 60
    while any(running(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker lives on"
        time.sleep(0.1)


def running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_killed_run_left_half_written_goes(whole, table, parser_folder, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    partial = tmp_path / "left" / f".shard-00000.parquet.{process_scope()}-{process.pid}{WRITING}"
    partial.parent.mkdir()
    partial.write_bytes(b"half")
    make(table, tmp_path / "left", parser_folder)
    assert not partial.exists()
    assert contents(tmp_path / "left") == contents(whole)


def test_another_encoder_of_that_name_is_refused(table, parser_folder, encoder_folder, tmp_path):
    encoder = tmp_path / "encoder"
    shutil.copytree(encoder_folder, encoder)
    options = {"encoder": str(encoder), "units": ("sentence",)}
    make(table, tmp_path / "set", parser_folder, **options)
    made_by = Manifest.read(tmp_path / "set").recipe["made_by"]
    weights = load_file(encoder / "model.safetensors")
    save_file({name: value + 1e-3 for name, value in weights.items()}, encoder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=f"found others .*{made_by['encoder']}"):
        make(table, tmp_path / "set", parser_folder, **options)


def test_documents_that_fail_are_listed_and_the_rest_is_done(parser_folder, tmp_path):
    path = write_table(tmp_path / "news.jsonl", 4)
    lines = path.read_text().splitlines()
    lines[1:1] = [
        "{",
        json.dumps({"article": " ", "highlights": "x"}),
        json.dumps({"article": "Rain.", "highlights": ""}),
    ]
    path.write_text("\n".join(lines))
    manifest = make(path, tmp_path / "data", parser_folder)
    assert (manifest.documents, manifest.failed) == (4, 3)
    failures = [json.loads(line) for line in (tmp_path / "data" / "failures.jsonl").read_text().splitlines()]
    assert [failure["source"] for failure in failures] == [f"{path}:{line}" for line in (2, 3, 4)]
    assert "expected a reference summary" in failures[2]["reason"]
    assert len(discsum.data.load(tmp_path / "data")) == 4


def test_a_damaged_shard_is_named(whole, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(whole, folder)
    path = folder / "shard-00002.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"shard-00002\.parquet: expected a shard with sha256 \w+, got \w+"):
        discsum.data.load(folder)


def test_any_hugging_face_encoder(table, parser_folder, encoder_folder, tmp_path):
    make(table, tmp_path / "data", parser_folder, encoder=str(encoder_folder), units=("sentence",))
    examples = UnitExamples(tmp_path / "data", "sentence", SynthesizerConfig(width=32))
    assert torch.isfinite(examples[0].inputs.vectors).all()
    with pytest.raises(InputError, match="preprocess with --unit edu and --encoder"):
        UnitExamples(tmp_path / "data", "edu", SynthesizerConfig(width=32))


def test_a_dataset_that_the_library_saved(table, parser_folder, tmp_path):
    datasets = pytest.importorskip("datasets")
    rows = [json.loads(line) for line in table.read_text().splitlines()]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved")
    make(tmp_path / "saved", tmp_path / "data", parser_folder)
    assert [row["id"] for row in discsum.data.load(tmp_path / "data")] == [row["id"] for row in rows]


def test_every_problem_of_a_recipe_at_once():
    with pytest.raises(InputError) as raised:
        PreprocessRecipe(oracle="best", units=(), shard=0)
    for part in (
        "oracle: expected one of bertsum",
        "units: expected one or more of",
        "shard: expected a whole number of at least 1, got 0",
    ):
        assert part in str(raised.value)
    with pytest.raises(InputError, match="discobert-edu with the unit edu only"):
        PreprocessRecipe(oracle="discobert-edu")


def test_rows_that_have_trees_keep_them(parser_folder, tmp_path):
    document = tiny.make_parser(seed=9).parse(tiny.ARTICLE, id="own")
    nodes = [replace(node, joined=bool(place % 2)) for place, node in enumerate(document.tree.nodes)]
    document = replace(document, tree=RSTTree(document.tree.edus, nodes), warnings=("It is not English.",))
    other = Parser.from_pretrained(parser_folder).parse(tiny.ARTICLE)
    assert document.tree != other.tree
    rows = [
        document.to_json() | {"summary": "The mill broke."},
        {"id": "bare", "text": tiny.ARTICLE, "summary": "Rain."},
    ]
    broken = document.to_json() | {"summary": "Rain.", "nodes": document.to_json()["nodes"][1:]}
    table = tmp_path / "trees.jsonl"
    table.write_text("".join(json.dumps(row) + "\n" for row in [*rows, broken]))
    manifest = make(table, tmp_path / "set", parser_folder)
    assert (manifest.documents, manifest.failed) == (2, 1)
    assert "nodes" in (tmp_path / "set" / "failures.jsonl").read_text()
    kept, parsed = discsum.data.load(tmp_path / "set")
    assert Document.from_json(kept).to_json() == document.to_json()
    assert (parsed["id"], Document.from_json(parsed).tree) == ("bare", other.tree)


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.jsonl.gz"])
def test_rows_without_ids_are_called_after_their_table(tmp_path, name):
    content = b'{"article": "It rained.", "summary": "Rain."}\n'
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    (pair,) = PairSource(str(tmp_path / name)).pairs()
    (item,) = read_inputs([str(tmp_path / name)])
    assert pair.id == item.id == "rows-1"
