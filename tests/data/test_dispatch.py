"""The dispatcher of tasks, tested without processes on a crew that starts, works and dies at random."""

import random
import warnings
from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discsum.data.engines._dispatch import AHEAD, TRIES, Dispatcher
from discsum.data.engines._messages import Done, Lost, Ready, Steps
from discsum.errors import DiscsumError

STEPS = 3


class RandomCrew:
    """A crew whose workers are numbers; a task takes `STEPS` steps, and its worker may die before any of them."""

    def __init__(self, seed, deaths):
        self.random, self.deaths = random.Random(seed), deaths
        self.hired, self.done, self.dismissed = 0, 0, False
        self.starting, self.given, self.steps = set(), {}, {}

    def hire(self):
        self.hired += 1
        self.starting.add(self.hired)
        return self.hired

    def give(self, worker, task):
        self.given[worker].append(task)
        assert len(self.given[worker]) <= AHEAD

    def messages(self):
        living = [*self.starting, *(worker for worker, tasks in self.given.items() if tasks)]
        worker = self.random.choice(living)
        if self.deaths and self.random.random() < 0.2:
            self.deaths -= 1
            self.starting.discard(worker)
            self.given.pop(worker, None)
            return [(worker, Lost("it fell asleep"))]
        if worker in self.starting:
            self.starting.remove(worker)
            self.given[worker], self.steps[worker] = deque(), 0
            return [(worker, Ready())]
        if self.steps[worker] < STEPS:
            self.steps[worker] += 1
            return [(worker, Steps(self.steps[worker]))]
        self.steps[worker] = 0
        self.done += 1
        return [(worker, Done(self.given[worker].popleft(), STEPS))]

    def dismiss(self):
        self.dismissed = True


def run(crew, workers, tasks, step):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(Dispatcher(crew, workers, tasks, step).results())


@given(st.integers(0, 2**32), st.integers(1, 5), st.integers(0, 12), st.integers(0, TRIES - 1))
def test_every_task_is_done_once_whoever_dies(seed, workers, count, deaths):
    crew, told, drawn = RandomCrew(seed, deaths), [], 0

    def tasks():
        nonlocal drawn
        for task in range(count):
            drawn += 1
            assert drawn - crew.done <= AHEAD * workers
            yield task

    results = run(crew, workers, tasks(), told.append)
    assert sorted(results) == list(range(count))
    # Steps that a dead worker reported are not reported again.
    assert sum(told) == STEPS * count
    assert all(step > 0 for step in told)
    assert crew.dismissed
    assert crew.hired <= min(workers, count) + deaths


class NeverStarting(RandomCrew):
    def messages(self):
        return [(self.starting.pop(), Lost("no such program"))]


def test_workers_that_never_start_end_the_run():
    crew = NeverStarting(0, 0)
    message = f"^expected a worker to start, {TRIES} in a row ended before they were ready; the last: no such program$"
    with pytest.raises(DiscsumError, match=message):
        run(crew, 2, range(4), lambda steps: None)
    assert crew.dismissed


class DyingOfTheFirst(RandomCrew):
    def messages(self):
        for worker, tasks in [*self.given.items()]:
            if tasks and tasks[0] == 0:
                del self.given[worker]
                return [(worker, Lost("it was killed by SIGKILL"))]
        return super().messages()


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_only_the_task_that_was_begun_is_blamed(seed, workers):
    crew = DyingOfTheFirst(seed, 0)
    with pytest.raises(
        DiscsumError, match=f"^expected 0 to be done, {TRIES} workers died on it; the last: it was killed"
    ):
        run(crew, workers, range(9), lambda steps: None)
    assert crew.hired <= workers + TRIES - 1


def test_without_tasks_nobody_is_hired():
    crew = RandomCrew(0, 0)
    assert run(crew, 3, [], lambda steps: None) == []
    assert crew.hired == 0


def test_a_worker_starts_while_the_task_of_the_next_one_is_drawn():
    crew, hired = RandomCrew(0, 0), []

    def tasks():
        for task in range(4):
            hired.append(crew.hired)
            yield task

    run(crew, 3, tasks(), lambda steps: None)
    assert hired[:3] == [0, 1, 2]
