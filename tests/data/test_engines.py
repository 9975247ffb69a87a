import os
import uuid
from functools import cached_property

from discsum.data.engines import results_of


class Loading:
    """Work that loads something the first time it is asked."""

    @cached_property
    def loaded(self):
        return uuid.uuid4().hex

    def __call__(self, task):
        return task, os.getpid(), self.loaded


def test_each_worker_loads_once():
    done = list(results_of(Loading(), iter(range(12)), 2))
    assert sorted(task for task, _, _ in done) == list(range(12))
    assert len({loaded for _, _, loaded in done}) == len({process for _, process, _ in done}) <= 2
    assert os.getpid() not in {process for _, process, _ in done}
