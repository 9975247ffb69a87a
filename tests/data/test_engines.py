import os
import time
import uuid
from functools import cached_property

from discsum.data.engines import ENGINES, local


class Loading:
    """Work that loads something the first time it is asked."""

    @cached_property
    def loaded(self):
        return uuid.uuid4().hex

    def __call__(self, task, step):
        step(2)
        return task, os.getpid(), self.loaded


def test_each_worker_loads_once():
    steps = []
    done = list(ENGINES["local"](2).results_of(Loading(), iter(range(12)), steps.append))
    assert sorted(task for task, _, _ in done) == list(range(12))
    assert len({loaded for _, _, loaded in done}) == len({process for _, process, _ in done}) <= 2
    assert os.getpid() not in {process for _, process, _ in done}
    # What workers have done of their tasks is told here.
    assert sum(steps) == 24


def slowly(task, step):
    for _ in range(4):
        step(1)
        time.sleep(0.2)


def test_steps_are_told_before_their_task_is_done(monkeypatch):
    monkeypatch.setattr(local, "LOOK", 0.05)
    steps = []
    for _ in ENGINES["local"](2).results_of(slowly, [0, 1], steps.append):
        steps.append(None)
    assert sum(step or 0 for step in steps) == 8
    assert len(steps[: steps.index(None)]) > 2
