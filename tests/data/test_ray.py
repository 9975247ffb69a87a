"""The engine `ray`: nodes that die and join, clusters without room, and a Ray that the command starts itself."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from engine_work import Loading, Placed, slow
from small_cluster import add_node, processes_of
from small_news import write_table

from discsum.data.engines import engine_of
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe
from discsum.data.run_options import RunOptions
from discsum.data.shard_run import make_all
from discsum.errors import DiscsumError, InputError, InputWarning, MissingExtraError

pytestmark = pytest.mark.usefixtures("bounded")


def test_without_ray_the_error_is_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r'run: pip install "discsum\[ray\]"$'):
        next(engine_of("ray").results_of(Loading(), [0]))


def test_options_that_ray_cannot_share_out():
    with pytest.raises(InputError, match=r"^engine ray: gpus_per_worker: expected a whole number, .* got 1.5"):
        engine_of("ray", 2, gpus_per_worker=1.5)
    with pytest.raises(InputError, match=r"^engine ray: cpus_per_worker: expected a whole number of at least 1, got 0"):
        engine_of("ray", 2, cpus_per_worker=0)
    # On a GPU, workers get one GPU each by default, from Python too; Ray gives that number to each actor.
    for options, gpus in (({}, 0), ({"device": "cuda"}, 1), ({"device": "cuda", "gpus_per_worker": 0.25}, 0.25)):
        assert engine_of("ray", 2, **options).options.gpus == gpus
    assert RunOptions(engine="ray", device="cuda").chosen_engine().options.gpus == 1


def test_a_node_is_killed_and_another_joins(cluster, tmp_path):
    doomed, nodes, done = add_node(cluster), set(), []

    def tasks():
        number = 0
        while len(nodes) < 4:
            yield number
            number += 1

    with pytest.warns(InputWarning, match=r"^a worker died on \d+: .*; another worker retries it$"):
        for task, node in engine_of(f"ray:{cluster.address}", 3).results_of(Placed(tmp_path), tasks()):
            done.append(task)
            nodes.add(node)
            if doomed and len(nodes) == 3:
                cluster.remove_node(doomed, allow_graceful=False)
                doomed = None
                joined = add_node(cluster)
    cluster.remove_node(joined)
    assert sorted(done) == list(range(len(done)))
    # The lost worker's task is done twice, and maybe another that it began before it noticed that its node was gone.
    assert len(done) <= len(list(tmp_path.iterdir())) <= len(done) + 2


def test_workers_without_room_are_told_of(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("discsum.data.engines.ray.PATIENCE", 1.0)
    told = r"^engine ray: expected room for 3 workers with 1 CPU each, got none for [1-3] after 1 seconds; add"
    with pytest.warns(InputWarning, match=told):
        done = list(engine_of(f"ray:{cluster.address}", 3).results_of(Placed(tmp_path), range(60)))
    assert sorted(task for task, _ in done) == list(range(60))


def test_a_run_that_fits_nowhere_waits_for_a_node(cluster, monkeypatch):
    said, joined = [], []

    def join(message):
        said.append(message)
        # In this thread, because a node sets handlers of signals.
        joined.append(add_node(cluster, cpus=2))

    monkeypatch.setattr("discsum.data.engines.ray.PATIENCE", 1.0)
    monkeypatch.setattr("discsum.data.engines.ray.warn_caller", join)
    engine = engine_of(f"ray:{cluster.address}", 1, cpus_per_worker=2)
    done = list(engine.results_of(Loading(), range(3)))
    cluster.remove_node(*joined)
    assert [task for task, _, _ in done] == [0, 1, 2]
    assert [message.partition(" after")[0] for message in said] == [
        "engine ray: expected room for 1 worker with 2 CPUs each, got none for 1"
    ]


def test_workers_that_the_memory_monitor_kills_are_replaced(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setenv("RAY_memory_usage_threshold", "0.0001")
    # Long enough for a worker on a busy machine to be ready before it is killed.
    monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "4000")
    told = pytest.warns(InputWarning, match=r"^a worker died on 0: OOM kill reason: .*; another worker retries it$")
    with told, pytest.raises(DiscsumError, match=r"3 workers died on it; the last: OOM .* with fewer workers"):
        list(engine_of("ray").results_of(slow, [0]))


def test_a_cluster_without_a_token_after_a_ray_with_one(cluster, monkeypatch):
    with monkeypatch.context() as own:
        own.delenv("RAY_AUTH_MODE")
        assert len(list(engine_of("ray").results_of(Loading(), range(3)))) == 3
    assert len(list(engine_of(f"ray:{cluster.address}").results_of(Loading(), range(3)))) == 3


def test_an_address_without_a_cluster(cluster):
    with pytest.raises(DiscsumError, match=r"^engine ray: expected Ray at 127.0.0.2:9, got ConnectionRefusedError: "):
        next(engine_of("ray:127.0.0.2:9").results_of(Loading(), [0]))


def test_a_ray_of_its_own_leaves_nothing(cluster, parser_folder, tmp_path):
    source = PairSource(str(write_table(tmp_path / "news.jsonl", 0, 6)))
    recipe = PreprocessRecipe(str(parser_folder), shard=3)
    make_all(preprocess_job(source.pairs(), source.identity(), tmp_path / "whole", recipe))
    mark = uuid.uuid4().hex
    command = ["preprocess", source.name, tmp_path / "set", "--parser", parser_folder, "--shard", 3, "--engine", "ray"]
    result = subprocess.run(
        [sys.executable, "-m", "discsum", *map(str, command)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "HOME": str(tmp_path), "TEST_RUN": mark},
        timeout=160,
    )
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == f"{tmp_path / 'set'}: 6 documents in 2 files\n"
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "set").iterdir())
    for name in names:
        assert (tmp_path / "set" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not (tmp_path / ".ray").exists()
    assert processes_of("TEST_RUN", mark) == []
