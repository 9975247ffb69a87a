"""Completion through the shell's protocol, as the installed scripts call it."""

import os
import subprocess
import sys

import pytest

COMMAND = "import sys; from discsum.cli import main; sys.argv = ['discsum']; main(); "
BASELINES = ["ilp", "lead", "marcu", "random", "textrank", "tree-knapsack"]


def completed(line, code=COMMAND):
    """Return what bash offers at the end of a command line."""
    words = line.split(" ")
    env = os.environ | {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_DISCSUM_COMPLETE": "complete_bash"}
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("discsum ev", ["evaluate"]),
        ("discsum extract --model ", ["discsum-news-edu", "discsum-news-sentence", *BASELINES]),
        ("discsum extract --model l", ["lead"]),
        ("discsum parse --parser ", ["discsum-gum"]),
        ("discsum parse --format rs", ["rs3", "rs4", "rsd"]),
        ("discsum parse --sentences n", ["nltk", "newline"]),
        (
            "discsum train parser-gum-",
            ["parser-gum-first", "parser-gum-large", "parser-gum-open"],
        ),
        ("discsum train small-bart/kl", ["small-bart/kl", "small-bart/kl-tree"]),
        ("discsum evaluate lead or", ["oracle"]),
        ("discsum abstract --selector mean", ["mean_key", "mean_variance"]),
        ("discsum preprocess --oracle k", ["kedzie"]),
        ("discsum analyze time --selector a", ["all", "attention_pooling"]),
        # Nothing matches, so the shell completes files.
        ("discsum parse art", []),
    ],
)
def test_completions(line, expected):
    assert completed(line) == expected


def test_completion_loads_nothing_heavy():
    code = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('HEAVY', *{'torch', 'transformers', 'numpy'} & set(sys.modules)))\n"
    )
    assert completed("discsum extract --model l", code + COMMAND) == ["lead", "HEAVY"]
