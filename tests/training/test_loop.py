"""The training loop on a task that is small enough to follow: fitting a line to points."""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from discsum.errors import DiscsumError, InputError, WeightsError
from discsum.files import WRITING, process_scope
from discsum.persistence import BEST, CARD
from discsum.training.best_weights import BestWeights
from discsum.training.checkpoint import LAST, earlier_state, save_checkpoint
from discsum.training.loop import TrainingLoop
from discsum.training.recipe import TrainingRecipe
from discsum.training.schedule import plateau_factor
from discsum.training.task import TrainingTask


class Points:
    """Points on a line."""

    def __init__(self, count):
        self.lengths, self.weights = np.ones(count, dtype=np.int64), np.ones(count)
        self.digest, self.blocks = f"{count} points", np.zeros((count, 2), dtype=np.int64)
        self.xs = torch.linspace(-1, 1, count)[:, None]

    def __len__(self):
        return len(self.xs)

    def texts(self):
        return [f"point {index} of {len(self)}" for index in range(len(self))]

    def ids(self, examples):
        return [f"point-{index}" for index in examples]


class LineTask(TrainingTask):
    """Learns y = 3x - 1; keeps a moving mean of its losses and its number of validations."""

    def __init__(self, recipe, points=12, scores=None):
        super().__init__(recipe, Points(points), Points(points + 1))
        torch.manual_seed(recipe.seed)
        self.network = nn.Linear(1, 1)
        self.moving, self.validations, self.scores, self.begun = torch.zeros(2), 0, scores, 0

    def parameter_groups(self):
        return [{"params": list(self.network.parameters()), "lr": self.recipe.learning_rate}]

    def start(self, report):
        self.begun += 1

    def batches(self, parts, step):
        whole = sum(map(len, parts))
        return [(self.train.xs[part], whole) for part in parts]

    def loss(self, network, batch):
        xs, whole = batch
        loss = (network(xs) - 3 * xs + 1).square().sum() / whole
        self.moving = 0.9 * self.moving + 0.1 * loss.detach()
        return {"loss": loss, "double": 2 * loss}

    def validate(self):
        self.validations += 1
        error = (self.network(self.train.xs) - 3 * self.train.xs + 1).square().mean()
        return {"error": error.item(), "training": float(self.network.training)}

    def selection_score(self, entry):
        return -entry.validation["error"] if self.scores is None else self.scores[entry.steps // 3 - 1]

    def save(self, folder):
        (folder / "config.json").write_text(json.dumps(self.network.weight.tolist()))

    def card(self, log, best):
        return f"best of {len(log)} after {best.steps}"

    def state(self):
        return {"moving": self.moving, "validations": self.validations}

    def load_state(self, state):
        self.moving, self.validations = state["moving"], state["validations"]


def recipe(**changes):
    return TrainingRecipe(**{"epochs": 4, "batch_size": 4, "learning_rate": 0.1, "weight_decay": 0.0} | changes)


def silent(line):
    pass


class KilledError(Exception):
    pass


def killed_at(step):
    def report(line):
        if line.startswith(f"step {step}/"):
            raise KilledError

    return report


def test_a_line_is_learned(tmp_path):
    loop = TrainingLoop(LineTask(recipe(epochs=40)), tmp_path)
    best = loop.run()
    assert best.validation["error"] < 0.05 < loop.log[0].validation["error"]
    assert all(entry.parts["double"] == pytest.approx(2 * entry.loss, abs=2e-4) for entry in loop.log)
    assert (tmp_path / "best" / "README.md").read_text() == f"best of {len(loop.log)} after {best.steps}"


def test_the_optimiser_has_the_settings_of_the_recipe():
    task = LineTask(recipe(betas=[0.5, 0.75], weight_decay=0.25))
    (group,) = task.optimizer(task.parameter_groups()).param_groups
    assert (group["betas"], group["lr"], group["weight_decay"]) == ((0.5, 0.75), 0.1, 0.25)


def test_validation_has_the_averaged_weights_and_no_dropout(tmp_path):
    loop = TrainingLoop(LineTask(recipe(average=0.9)), tmp_path)
    seen = {}
    validate = loop.task.validate

    def looked_at():
        seen["weights"] = loop.task.network.weight.detach().clone()
        return validate()

    loop.task.validate = looked_at
    loop.run()
    assert torch.equal(seen["weights"], loop.average["weight"])
    assert not torch.equal(seen["weights"], loop.task.network.weight)
    assert all(entry.validation["training"] == 0 for entry in loop.log)


def test_the_state_of_a_task_goes_on_after_a_kill(tmp_path):
    with pytest.raises(KilledError):
        TrainingLoop(LineTask(recipe()), tmp_path / "killed", killed_at(8)).run()
    whole, rest = (TrainingLoop(LineTask(recipe()), tmp_path / name) for name in ("whole", "killed"))
    assert (whole.task.begun, rest.task.begun) == (1, 0)
    for loop in (whole, rest):
        loop.run()
    assert whole.task.validations == rest.task.validations == 4
    assert torch.equal(whole.task.moving, rest.task.moving)
    assert rest.log == whole.log
    final, expected = (load_file(tmp_path / name / "last.safetensors") for name in ("killed", "whole"))
    assert final.keys() == expected.keys()
    assert all(torch.equal(final[key], value) for key, value in expected.items())
    assert torch.equal(expected["task.moving"], whole.task.moving)


@pytest.mark.parametrize("parts", [2, 3, 4])
def test_parts_of_a_step_are_the_whole_step(tmp_path, parts):
    whole = TrainingLoop(LineTask(recipe()), tmp_path / "whole")
    split = TrainingLoop(LineTask(recipe(accumulate=parts)), tmp_path / "split")
    for loop in (whole, split):
        loop.run()
    torch.testing.assert_close(split.task.network.state_dict(), whole.task.network.state_dict())
    assert [entry.loss for entry in split.log] == pytest.approx([entry.loss for entry in whole.log], abs=1e-4)


def test_a_run_killed_after_its_last_checkpoint_lacks_nothing(tmp_path, monkeypatch):
    def save_and_die(*everything):
        save_checkpoint(*everything)
        raise KilledError

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    with monkeypatch.context() as patch:
        patch.setattr("discsum.training.loop.save_checkpoint", save_and_die)
        for _ in range(4):
            with pytest.raises(KilledError):
                TrainingLoop(LineTask(recipe()), killed).run()
    for folder in (whole, killed):
        TrainingLoop(LineTask(recipe()), folder).run()
    for name in ("log.json", "best/README.md"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()


def test_a_resumed_run_in_float16_keeps_the_scale_of_its_losses(tmp_path):
    scales = []
    for kill in (99, 5):
        folder = tmp_path / str(kill)
        for report in (killed_at(kill), lambda line: None):
            task = LineTask(recipe())
            # As accelerate makes it for a GPU; it doubles the scale after each two steps.
            task.accelerator.scaler = torch.amp.GradScaler("cpu", init_scale=1.0, growth_interval=2)
            with suppress(KilledError):
                TrainingLoop(task, folder, report).run()
        scales.append(task.accelerator.scaler.get_scale())
    assert scales == [64.0, 64.0]


def test_a_kill_before_the_checkpoint_leaves_the_weights_that_it_names(tmp_path, monkeypatch):
    """The repeated validation may be worse, as on a GPU; the earlier best weights must not be lost."""

    def die(*everything):
        raise KilledError

    def loop(*scores, report=silent):
        return TrainingLoop(LineTask(recipe(), scores=scores), tmp_path, report)

    with pytest.raises(KilledError):
        loop(1, 2, 0, 0, report=killed_at(5)).run()
    before = (tmp_path / BEST / "config.json").read_bytes()
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr("discsum.training.loop.save_checkpoint", die)
        loop(1, 2, 0, 0).run()
    best = loop(1, 0.5, 0, 0).run()
    assert (best.steps, (tmp_path / BEST / "config.json").read_bytes()) == (3, before)


def test_a_kill_while_weights_are_replaced_loses_none(tmp_path, monkeypatch):
    """The kill is between the two renames; a file of the user's is in the folder."""
    with pytest.raises(KilledError):
        TrainingLoop(LineTask(recipe()), tmp_path, killed_at(5)).run()
    (tmp_path / BEST / "notes.txt").write_text("mine")
    rename = Path.rename

    def die(path, target):
        if path.name == ".best.staged":
            raise KilledError
        return rename(path, target)

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(Path, "rename", die)
        TrainingLoop(LineTask(recipe()), tmp_path).run()
    assert not (tmp_path / BEST).exists()
    loop = TrainingLoop(LineTask(recipe()), tmp_path)
    assert (loop.best.steps, loop.finished) == (6, False)
    assert (tmp_path / BEST / "notes.txt").read_text() == "mine"
    loop.run()


def test_a_kill_after_the_checkpoint_loses_no_better_weights(tmp_path, monkeypatch):
    def die(weights):
        raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(BestWeights, "adopt", die)
        TrainingLoop(LineTask(recipe()), tmp_path).run()
    assert not (tmp_path / BEST).exists()
    loop = TrainingLoop(LineTask(recipe()), tmp_path)
    assert loop.best.steps == 3
    assert (tmp_path / BEST / CARD).read_text() == "best of 1 after 3"
    assert not list(tmp_path.glob(".best*"))


def test_damaged_best_weights_are_found_when_a_run_resumes(tmp_path):
    with pytest.raises(KilledError):
        TrainingLoop(LineTask(recipe()), tmp_path, killed_at(5)).run()
    (tmp_path / BEST / "config.json").write_text("0")
    with pytest.raises(WeightsError, match=r"config\.json: expected sha256 .* as step 3 wrote it, got"):
        TrainingLoop(LineTask(recipe()), tmp_path)


def test_what_a_killed_run_left_half_written_goes(tmp_path):
    with pytest.raises(KilledError):
        TrainingLoop(LineTask(recipe()), tmp_path, killed_at(6)).run()
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    ending = f"{process_scope()}-{process.pid}{WRITING}"
    left = [tmp_path / f".{LAST}.{ending}", tmp_path / BEST / f".{CARD}.{ending}"]
    for path in left:
        path.write_text("half")
    TrainingLoop(LineTask(recipe()), tmp_path).run()
    assert not [path for path in left if path.exists()]


def test_a_checkpoint_is_for_whoever_may_read_the_folder(tmp_path):
    TrainingLoop(LineTask(recipe()), tmp_path).run()
    (tmp_path / "plain").write_text("")
    assert (tmp_path / LAST).stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_rate_is_lowered_where_validation_is_no_better_and_stays_so_after_a_kill(tmp_path):
    # The second validation is no better than the first; the third is.
    def task():
        return LineTask(recipe(schedule="noam", warmup=0.0, plateau=0.5), scores=(1, 1, 2, 1.5))

    rates = []

    def report(line):
        if line.endswith("\r"):
            rates.append(whole.optimizer.param_groups[0]["lr"] * whole.steps**0.5)

    whole = TrainingLoop(task(), tmp_path / "whole", report)
    whole.run()
    lowered = (1.0, 1.0, 0.5, 0.25)
    expected = [0.1 * lowered[step // 3] * (12 / (step + 1)) ** 0.5 for step in range(12)]
    assert rates == pytest.approx([rate * (rates[0] / expected[0]) for rate in expected])
    with pytest.raises(KilledError):
        TrainingLoop(task(), tmp_path / "killed", killed_at(8)).run()
    rest = TrainingLoop(task(), tmp_path / "killed")
    rest.run()
    assert rest.log == whole.log
    assert torch.equal(rest.task.network.weight, whole.task.network.weight)


def test_from_the_first_missed_validation_on_every_one_lowers_the_rate():
    runs = [], [1], [1, 2], [1, 1], [1, 2, 1, 3, 4]
    assert [plateau_factor(scores, 0.5) for scores in runs] == [1, 1, 1, 0.5, 0.125]


def test_a_run_that_stops_before_its_rate_has_fallen(tmp_path):
    assert recipe(steps=40, epochs=1, stop_after=2).stop_after == 2
    whole, short = (TrainingLoop(LineTask(recipe(stop_after=stop)), tmp_path / str(stop)) for stop in (0, 2))
    for loop in (whole, short):
        loop.run()
    assert short.log == whole.log[:2]
    assert short.finished


def test_more_parts_than_documents_are_refused():
    with pytest.raises(InputError, match="accumulate: expected at most batch_size 4, got 5"):
        recipe(accumulate=5)
    with pytest.raises(InputError, match="stop_after: expected 0 to 4 epochs, got 9"):
        recipe(stop_after=9)


@pytest.mark.parametrize("lacks", ["task", "data", "log"])
def test_a_checkpoint_of_an_older_version_is_named(tmp_path, lacks):
    state = {name: [] for name in ("task", "data", "log") if name != lacks} | {"recipe": {}}
    save_file({"network.weight": torch.zeros(1)}, tmp_path / LAST, {"state": f"0 {json.dumps(state)}"})
    with pytest.raises(WeightsError, match="expected a checkpoint of this version, got an older one; delete it"):
        earlier_state(tmp_path, {})


def test_a_checkpoint_with_a_damaged_state_is_to_be_deleted(tmp_path):
    save_file({"network.weight": torch.zeros(1)}, tmp_path / LAST, {"state": '0 {"log": ['})
    with pytest.raises(WeightsError, match=r"expected a checkpoint, got its state: expected JSON .*; delete it"):
        earlier_state(tmp_path, {})


def test_a_validation_that_gives_no_number_ends_the_run(tmp_path):
    task = LineTask(recipe())
    task.validate = lambda: {"error": float("nan")}
    with pytest.raises(DiscsumError, match=r"step 3: the validation gave {'error': nan}, expected numbers; lower"):
        TrainingLoop(task, tmp_path).run()
    assert not (tmp_path / "best").exists()
