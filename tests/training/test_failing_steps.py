"""Runs that fail: weights and gradients that are no numbers, deleted weights, too little memory, a coarse clock."""

import pytest
import torch
from test_loop import LineTask, recipe

from discsum.errors import DiscsumError, InputError
from discsum.persistence import BEST
from discsum.training.loop import TrainingLoop


@pytest.mark.parametrize("max_grad_norm", [0, 1])
def test_a_gradient_that_is_no_number_names_the_documents_of_its_step(tmp_path, max_grad_norm):
    """The next step's loss, on other documents, would be NaN."""
    loop = TrainingLoop(LineTask(recipe(max_grad_norm=max_grad_norm)), tmp_path)
    loss, steps = loop.task.loss, []

    def steep(network, batch):
        steps.append(batch)
        found = loss(network, batch)
        if len(steps) == 5:
            # The root of 0 is 0, its derivative infinite.
            found["loss"] = found["loss"] + (0 * network.weight).sum().sqrt()
        return found

    loop.task.loss = steep
    names = ", ".join(f"point-{index}" for index in loop.batches[4])
    with pytest.raises(DiscsumError, match=f"step 5: the norm of the gradients is nan on {names}; expected a number"):
        loop.run()
    assert [entry.steps for entry in TrainingLoop(LineTask(loop.recipe), tmp_path).log] == [3]


def test_weights_that_are_no_numbers_are_not_validated(tmp_path):
    # The step of plain gradient descent, rate times gradient, overflows.
    task = LineTask(recipe(learning_rate=3e38, warmup=0.0, max_grad_norm=0, validate_every=1))
    task.optimizer = torch.optim.SGD
    with pytest.raises(DiscsumError, match=r"step 1: training diverged, lower learning_rate: .* but bias has others"):
        TrainingLoop(task, tmp_path).run()
    assert task.validations == 0


@pytest.mark.parametrize("name", ["config.json", "more.json"])
def test_best_weights_that_are_deleted_meanwhile_end_the_run_at_its_next_validation(tmp_path, name):
    class Task(LineTask):
        def save(self, folder):
            super().save(folder)
            (folder / "more.json").write_text("{}")

    def delete(line):
        if line.startswith("step 5/"):
            (tmp_path / BEST / name).unlink()

    loop = TrainingLoop(Task(recipe(), scores=(4, 3, 2, 1)), tmp_path, delete)
    with pytest.raises(InputError, match=rf"best/{name}: expected the weights of step 3, .* found no such file; rest"):
        loop.run()
    assert [entry.steps for entry in loop.log] == [3]


def test_a_clock_that_does_not_move_ends_no_run(tmp_path, monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 5.0)
    assert TrainingLoop(LineTask(recipe()), tmp_path).run().steps == 12


def refuse_on_a_gpu():
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def refuse_on_windows():
    raise RuntimeError("[enforce fail] DefaultCPUAllocator: not enough memory: you tried to allocate 512 bytes.")


@pytest.mark.parametrize(
    "allocate", [refuse_on_a_gpu, refuse_on_windows, lambda: torch.empty(10**15), lambda: bytearray(10**15)]
)
@pytest.mark.parametrize("method", ["loss", "validate"])
def test_a_lack_of_memory_names_the_fields_that_need_less(tmp_path, monkeypatch, allocate, method):
    with monkeypatch.context() as patch:
        patch.setattr(LineTask, method, lambda *arguments: allocate())
        with pytest.raises(DiscsumError, match=r"memory to train and validate up to step 3, got .* more accumulate or"):
            TrainingLoop(LineTask(recipe()), tmp_path).run()
    assert TrainingLoop(LineTask(recipe()), tmp_path).run().steps == 12


def test_other_errors_of_torch_stay_what_they_are(tmp_path):
    task = LineTask(recipe())
    task.validate = lambda: torch.zeros(2) @ torch.zeros(3)
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        TrainingLoop(task, tmp_path).run()
