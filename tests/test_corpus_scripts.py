"""The scripts in docs/scripts, which preprocess a corpus, train on it and evaluate on a cluster.

Stubs replace SLURM's commands, `discsum` and `accelerate`, and record their calls. The recorded calls then run in this
process, in the same order.
"""

import io
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass

import pytest
import yaml
from accelerate.commands.launch import launch_command_parser
from documented import ROOT
from small_news import write_recipe, write_table

from discsum.cli import main
from discsum.data.manifest import Manifest

SCRIPTS = ROOT / "docs" / "scripts"
SLURM, RAYJOB = SCRIPTS / "corpus-slurm.sh", SCRIPTS / "corpus-rayjob.yaml"
NOTE = 'printf "%q " "$(basename "$0")" "$@" >> "$NOTED"; echo >> "$NOTED"\n'
STUBS = {
    "discsum": NOTE,
    "accelerate": NOTE,
    "scontrol": "echo 10.0.0.1; echo 10.0.0.2\n",
    # Runs the job at once, with each index of an array, and prints a number, as --parsable does.
    "sbatch": NOTE
    + """
while [ $# -gt 0 ]; do
    case $1 in
    --array) last=${2#1-}; shift 2 ;;
    --wrap) command=$2; shift 2 ;;
    *) shift ;;
    esac
done
for task in $(seq "${last:-1}"); do
    SLURM_ARRAY_TASK_ID=$task SLURM_JOB_NODELIST=node[1-2] SLURM_CPUS_PER_TASK=4 bash -c "$command" >&2 || exit 1
done
wc -l < "$NOTED"
""",
    # Its only option stops all nodes when one fails.
    "srun": '[ "$1" = --kill-on-bad-exit ] || exit 1; shift\n'
    'for node in $(seq 0 $((NODES - 1))); do SLURM_NODEID=$node "$@"; done\n',
}


@dataclass(frozen=True)
class Corpus:
    """Folders of a corpus and of its run, and the settings of the scripts."""

    corpus: object
    run: object
    settings: dict


@pytest.fixture
def corpus(tmp_path, parser_folder):
    place = tmp_path / "a corpus"
    place.mkdir()
    for name, (first, last) in {"train": (0, 12), "validation": (20, 26), "test": (30, 35)}.items():
        write_table(place / f"{name}.jsonl", first, last)
    # A document that fails.
    with (place / "train.jsonl").open("a") as file:
        file.write("{\n")
    folders = {name: [{"path": name}] for name in ("train", "validation")}
    synthesizer = {"inner": 16, "scorer": 8}
    recipe = write_recipe(tmp_path, parser_folder, units=1, epochs=1, batch_size=6, synthesizer=synthesizer, **folders)
    options = f"--parser {parser_folder} --encoder contextual --shard 4"
    return Corpus(place, tmp_path / "run", {"TABLES": "jsonl", "RECIPE": str(recipe), "PREPROCESS": options})


@pytest.fixture
def noted(tmp_path, monkeypatch):
    """Return a function that runs a script with the stubs and returns their recorded calls."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, content in STUBS.items():
        (folder / name).write_text(f"#!/bin/bash\n{content}")
        (folder / name).chmod(0o755)

    def run(*command, **settings):
        noted = tmp_path / "noted"
        environment = {"PATH": f"{folder}:{os.environ['PATH']}", "NOTED": str(noted)} | settings
        subprocess.run([*map(str, command)], check=True, env=os.environ | environment, timeout=60, capture_output=True)
        return [shlex.split(line) for line in noted.read_text().splitlines()]

    return run


@pytest.fixture
def done(monkeypatch, capsys):
    """Return a function that runs a command of discsum in this process and returns its exit code."""
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    def run(words):
        monkeypatch.setattr(sys, "argv", words)
        try:
            main()
        except SystemExit as stop:
            assert stop.code in (None, 0, 3), (words, capsys.readouterr().err)
            return stop.code or 0
        return 0

    return run


def check_result(corpus):
    """Check that all splits and the file of scores were made."""
    made = {name: Manifest.read(corpus.run / "data" / name) for name in ("train", "validation", "test")}
    assert {name: manifest.documents for name, manifest in made.items()} == {"train": 12, "validation": 6, "test": 5}
    assert made["train"].failed == 1
    assert (corpus.run / "scores.jsonl.gz").is_file()


@pytest.mark.parametrize("path", sorted(SCRIPTS.glob("*.sh")), ids=lambda path: path.name)
def test_a_script_is_one_of_bash(path):
    subprocess.run(["bash", "-n", path], check=True)
    assert sorted(SCRIPTS.iterdir()) == [RAYJOB, SLURM]


def test_slurm(corpus, noted, done):
    calls = noted("bash", SLURM, corpus.corpus, corpus.run, **corpus.settings, PARTS="2", CPUS="1", GPUS="1")
    jobs = [words for words in calls if words[0] == "sbatch"]
    names = [words[words.index("--job-name") + 1] for words in jobs]
    splits = ("train", "validation", "test")
    assert names == [
        *(f"{stage}-{split}" for split in splits for stage in ("part", "finish")),
        "train-all",
        "evaluate-all",
    ]
    # Each job waits for the jobs it needs, by the numbers that sbatch printed.
    waits = [words[words.index("--dependency") + 1] for words in jobs if "--dependency" in words]
    numbers = [number for wait in waits for number in wait.split(":")[1:]]
    assert [wait.count(":") for wait in waits] == [1, 1, 1, 3, 1]
    assert len(set(numbers)) == 7
    assert all(number.isdigit() for number in numbers)
    assert all("--kill-on-invalid-dep=yes" in words for words in jobs)
    options = {words[words.index("--job-name") + 1]: words for words in jobs}
    cpus = {name: words[words.index("--cpus-per-task") + 1] for name, words in options.items() if "finish" not in name}
    assert "--gpus-per-node=1" in options["train-all"]
    logs = {
        name: [words[place + 1] for place, word in enumerate(words) if word == "--output"][-1]
        for name, words in options.items()
    }
    assert logs["part-train"].endswith("/logs/%x-%A-%a.out")
    assert logs["train-all"].endswith("/logs/%x-%j.out")
    assert cpus == dict.fromkeys(("part-train", "part-validation", "part-test", "train-all", "evaluate-all"), "1")
    launched = [words for words in calls if words[0] == "accelerate"]
    parsed = [launch_command_parser().parse_args(words[2:]) for words in launched]
    assert [(given.num_machines, given.num_processes, given.machine_rank) for given in parsed] == [(2, 2, 0), (2, 2, 1)]
    assert {(given.main_process_ip, given.training_script, given.module) for given in parsed} == {
        ("10.0.0.1", "discsum", True)
    }
    assert all("--multi_gpu" in words for words in launched)
    assert parsed[0].training_script_args == parsed[1].training_script_args
    made = [words for words in calls if words[0] == "discsum" and words[1] == "preprocess"]
    (evaluated,) = (words for words in calls if words[0] == "discsum" and words[1] != "preprocess")
    assert [done(words) for words in made] == [0, 0, 3, 0, 0, 0, 0, 0, 0]
    assert done(["discsum", *parsed[0].training_script_args]) == 0
    assert done(evaluated) == 0
    check_result(corpus)


def test_slurm_with_one_gpu_starts_one_process(corpus, noted):
    settings = corpus.settings | {"NODES": "1", "GPUS": "1", "CPUS": "3"}
    calls = noted("bash", SLURM, corpus.corpus, corpus.run, **settings, PARTS="1")
    (launched,) = (words for words in calls if words[0] == "accelerate")
    given = launch_command_parser().parse_args(launched[2:])
    # accelerate refuses --multi_gpu for a single process.
    assert (given.multi_gpu, given.num_machines, given.num_processes) == (False, 1, 1)


def test_slurm_without_gpus_starts_one_process_on_each_node(corpus, noted):
    settings = corpus.settings | {"NODES": "2", "GPUS": "0", "CPUS": "3", "PARTS": "1"}
    calls = noted("bash", SLURM, corpus.corpus, corpus.run, **settings)
    (job,) = (words for words in calls if words[0] == "sbatch" and "train-all" in words)
    assert not any(word.startswith("--gpus") for word in job)
    assert job[job.index("--cpus-per-task") + 1] == "3"
    launched = [launch_command_parser().parse_args(words[2:]) for words in calls if words[0] == "accelerate"]
    assert [(given.multi_gpu, given.num_machines, given.num_processes) for given in launched] == [(True, 2, 2)] * 2


def test_kuberay(corpus, noted, done, tmp_path):
    settings, job = yaml.safe_load_all(RAYJOB.read_text(encoding="utf-8"))
    assert (settings["kind"], job["apiVersion"], job["kind"]) == ("ConfigMap", "ray.io/v1", "RayJob")
    (name,) = settings["data"]
    assert job["spec"]["entrypoint"] == f"bash /scripts/{name}"
    cluster = job["spec"]["rayClusterSpec"]
    pods = [group["template"]["spec"] for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])]
    for pod in pods:
        # Each pod has the script, and the volume of the script's folders.
        (container,) = pod["containers"]
        assert {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]} == {
            "data": "/data",
            "scripts": "/scripts",
        }
        assert pod["volumes"][1]["configMap"]["name"] == settings["metadata"]["name"]
    assert sum(pod["containers"][0]["resources"]["limits"].get("nvidia.com/gpu", 0) for pod in pods) == 1
    script = tmp_path / name
    script.write_text(settings["data"][name])
    subprocess.run(["bash", "-n", script], check=True)
    calls = noted("bash", script, CORPUS=str(corpus.corpus), RUN=str(corpus.run), WORKERS="1", **corpus.settings)
    assert [words[1] for words in calls] == [*["preprocess"] * 3, "train", "evaluate"]
    # Uses the local engine instead of a cluster; tests/data checks that Ray gives the same bytes.
    assert all("ray:auto" in words for words in calls[:3])
    here = [["local" if word == "ray:auto" else word for word in words] for words in calls]
    assert [done(words) for words in here] == [3, 0, 0, 0, 0]
    check_result(corpus)
