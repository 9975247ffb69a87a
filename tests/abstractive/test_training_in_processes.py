"""Two processes learn what one does, from random weights, without dropout or anything else that is random."""

import json
import shutil

import pytest
import torch
import yaml
from safetensors import safe_open
from several_processes import run_together
from small_training import SPARSE, recipe_fields, training_loop

SIZES = {"embedding_size": 12, "hidden_size": 16, "filters": 8, "filter_width": 3, "dropout": 0.0}
FAMILIES = {
    "sparse": SPARSE
    | {
        "scratch": {"vocabulary": 300, "width": 16, "layers": 2, "heads": 2, "inner": 16, "dropout": 0.0},
        "selector": "gru",
        "options": {"dropout": 0.0},
        "objective": {"mode": "int-mix"},
    },
    "coarse_to_fine": {
        "family": "coarse_to_fine",
        "network": SIZES | {"chunks": "1x80"},
        "vocabulary": 90,
        "source_tokens": 80,
        "target_tokens": 16,
        "learning_rate": 1e-2,
    },
}


@pytest.mark.parametrize("family", FAMILIES)
def test_two_processes_learn_what_one_does(family, data, parser_folder, tmp_path):
    recipe = tmp_path / "recipe.yaml"
    fields = recipe_fields(parser_folder, **FAMILIES[family] | {"batch_size": 7, "epochs": 1})
    training_loop(fields, data, tmp_path / "alone").run()
    recipe.write_text(yaml.safe_dump({"kind": "abstractive", "name": "tiny", "data": str(data), **fields}))
    shutil.copytree(data / "datasets", tmp_path / "datasets")
    run_together("-m", "discsum", "train", recipe, "-o", tmp_path / "together")
    one, two = (tmp_path / name for name in ("alone", "together"))
    logs = (json.loads((run / "log.json").read_text()) for run in (one, two))
    for alone, together in zip(*logs, strict=True):
        assert alone["validation"] == pytest.approx(together["validation"], abs=1e-4)
    if family == "coarse_to_fine":
        kept = (safe_open(run / "last.safetensors", framework="pt") for run in (one, two))
        baselines = (file.get_tensor("task.baseline") for file in kept)
        torch.testing.assert_close(*baselines, atol=1e-4, rtol=1e-4)
