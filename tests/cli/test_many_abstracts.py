"""`discsum abstract` of many documents: batches, `--resume` and `--shards`."""

import gzip
import json
import pickle
import shutil

import pytest
import tiny
from safetensors.torch import load_file, save_file
from small_news import pairs

from discsum.abstractive.generation import AbstractiveOptions, Generation
from discsum.abstractive.parts import abstract_job
from discsum.abstractive.pipeline import AbstractivePipeline
from discsum.data.input_source import InputSource
from discsum.data.part_maker import Division
from discsum.data.shard_maker import ShardTask

PARTS = [f"part-{number:05d}.jsonl.gz" for number in range(3)]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps({"id": pair.id, "text": pair.text}) + "\n" for pair in pairs(0, 5)))
    return path


@pytest.fixture
def abstract(discsum, bart_folder, parser_folder):
    def run(table, *arguments, model=bart_folder, **options):
        given = ("--model", model, "--parser", parser_folder, "--max-tokens", 8)
        return discsum("abstract", table, *given, *arguments, **options)

    return run


@pytest.fixture
def silent_folder(bart_folder, tmp_path):
    """Return the folder of a model that ends every summary at once."""
    folder = shutil.copytree(bart_folder, tmp_path / "silent")
    weights = load_file(folder / "model.safetensors")
    _, end, _ = tiny.special_indices()
    weights["final_logits_bias"][0, end] = 1e4
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_batches_of_any_size_give_the_same_summaries(abstract, table):
    one, all_ = (abstract(table, "--json", "--batch-size", size) for size in (1, 9))
    assert (one.code, one.out) == (0, all_.out)
    assert len(one.out.splitlines()) == 5
    assert abstract(table, "--batch-size", 0).code == 2


def test_parts_have_the_objects_of_the_json_lines(abstract, table, tmp_path):
    wanted = abstract(table, "--json", "--selector", "mean_key", "--r", 1).out.splitlines()
    options = ("--selector", "mean_key", "--r", 1, "--shards", "--shard", 2)
    result = abstract(table, "-o", tmp_path / "whole", *options)
    assert (result.code, result.out) == (0, "")
    assert result.err.splitlines()[-1] == f"{tmp_path / 'whole'}: 5 documents in 3 files"
    lines = [line for name in PARTS for line in gzip.decompress((tmp_path / "whole" / name).read_bytes()).splitlines()]
    assert [json.loads(line) for line in lines] == [json.loads(line) for line in wanted]
    for part in ("1/2", "2/2"):
        assert abstract(table, "-o", tmp_path / "parts", *options, "--part", part).code == 0
    assert abstract(table, "-o", tmp_path / "parts", *options, "--finish").code == 0
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")


def test_workers_get_the_maker_pickled(bart_folder, parser_folder, table, tmp_path, monkeypatch):
    options = AbstractiveOptions(bart_folder.name, Generation(max_tokens=8), parser=str(parser_folder))
    monkeypatch.chdir(bart_folder.parent)
    job = abstract_job(InputSource([str(table)]), tmp_path, options, Division(shard=3))
    maker = job.maker(tmp_path, "digest", "cpu")
    # Workers have other working directories.
    monkeypatch.chdir(tmp_path)
    copy = pickle.loads(pickle.dumps(maker))
    name, record = copy(ShardTask("part-00000.jsonl.gz", list(next(iter(job.shards())))), [].append)
    assert (record.documents, record.failed) == (3, 0)
    lines = gzip.decompress((tmp_path / name).read_bytes()).splitlines()
    assert {json.loads(line)["model"] for line in lines} == {bart_folder.name}


def test_a_folder_of_other_options_or_another_model_is_refused(abstract, table, silent_folder, tmp_path):
    shards = ("-o", tmp_path / "set", "--shards")
    assert abstract(table, *shards).code == 0
    result = abstract(table, *shards, "--beams", 2)
    assert (result.code, "beams 4 there and 2 here" in result.err) == (1, True)
    result = abstract(table, *shards, "--selector", "mean_key", "--r", 1)
    assert (result.code, "selector" in result.err) == (1, True)
    result = abstract(table, *shards, model=silent_folder)
    assert (result.code, "made_by" in result.err) == (1, True)
    result = abstract(table, *shards, "--resume")
    assert (result.code, "cannot be combined with --resume" in result.err) == (2, True)
    result = abstract(table, "--workers", 2)
    assert (result.code, "--workers cannot be used without --shards" in result.err) == (2, True)


def test_failures_and_empty_summaries_of_shards_are_told(abstract, table, silent_folder, tmp_path):
    with table.open("a") as file:
        file.write(json.dumps({"id": "long", "text": "The mill broke. " * 200}) + "\n")
    result = abstract(table, "-o", tmp_path / "set", "--shards", model=silent_folder)
    assert result.code == 3
    told = [line for line in result.err.splitlines() if "got an empty one from" in line]
    assert [line.split()[1] for line in told] == [f"{pair.id}:" for pair in pairs(0, 5)]
    (failure,) = map(json.loads, (tmp_path / "set" / "failures.jsonl").read_text().splitlines())
    assert failure["reason"].startswith("long: expected at most 600 tokens")


def test_weights_are_hashed_only_where_a_run_can_be_resumed(abstract, table, tmp_path, monkeypatch):
    hashed = []
    monkeypatch.setattr("discsum.abstractive.folder.sha256", lambda path: hashed.append(path) or "0" * 64)
    for output in ((), ("-o", tmp_path / "out.txt")):
        assert abstract(table, *output).code == 0
    assert not hashed
    assert abstract(table, "-o", tmp_path / "out").code == 0
    assert "model.safetensors" in [path.name for path in hashed]


def test_lines_beside_the_model_can_be_resumed(abstract, table, bart_folder, tmp_path):
    folder = shutil.copytree(bart_folder, tmp_path / "model")
    options = ("--jsonl", "-o", folder / "lines.jsonl")
    assert abstract(table, *options, model=folder).code == 0
    assert "5 skipped" in abstract(table, *options, "--resume", model=folder).err


def test_a_model_that_is_none_fails_before_the_workers_start(abstract, table, tmp_path):
    result = abstract(table, "-o", tmp_path / "set", "--shards", "--workers", 2, model=tmp_path / "none")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "expected the folder of a sequence-to-sequence model" in result.err
    (tmp_path / "config.json").write_text('{"kind": "discsum-extractive", "format": 1}')
    result = abstract(table, "-o", tmp_path / "set", "--shards", "--workers", 2, model=tmp_path)
    assert (result.code, "got a discsum-extractive; use discsum extract --model" in result.err) == (1, True)
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("output", ["out.jsonl", "out"])
def test_a_killed_run_resumes(abstract, table, silent_folder, tmp_path, monkeypatch, output):
    options = ("--jsonl", "--batch-size", 2, "-o", tmp_path / output)
    whole = ("--jsonl", "--batch-size", 2, "-o", tmp_path / ("whole" + output))
    assert abstract(table, *whole).code == 0
    call, batches = AbstractivePipeline.__call__, []

    def killed(self, items):
        batches.append(len(items))
        if len(batches) == 2:
            raise KeyboardInterrupt
        return call(self, items)

    with monkeypatch.context() as patch:
        patch.setattr(AbstractivePipeline, "__call__", killed)
        assert abstract(table, *options).code == 130
    for changed in (("--beams", 2), ("--length-penalty", 2)):
        refused = abstract(table, *options, *changed, "--resume")
        assert (refused.code, "expected results made with the same options" in refused.err) == (1, True)
    refused = abstract(table, *options, "--resume", model=silent_folder)
    assert (refused.code, "expected results made with the same options" in refused.err) == (1, True)
    result = abstract(table, *options, "--resume")
    assert (result.code, result.err) == (0, "discsum: 3 done, 2 skipped (already written)\n")
    found, wanted = tmp_path / output, tmp_path / ("whole" + output)
    assert (contents(found) == contents(wanted)) if output == "out" else (found.read_bytes() == wanted.read_bytes())
