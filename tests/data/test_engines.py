"""The contract of all engines."""

import os
import pickle
import signal
import threading
import time

import engine_work
import pytest
from engine_work import Dying, Loading, Unreadable, Waiting, begun, running

from discsum.data.engines import engine_of, local
from discsum.errors import DiscsumError, FormatError, InputWarning


def test_each_worker_loads_once(engine):
    steps = []
    done = list(engine.results_of(Loading(), iter(range(12)), steps.append))
    assert sorted(task for task, _, _ in done) == list(range(12))
    assert len({loaded for _, _, loaded in done}) == len({process for _, process, _ in done}) <= 2
    assert os.getpid() not in {process for _, process, _ in done}
    # Steps of workers are reported in this process.
    assert sum(steps) == 24


def test_steps_are_told_before_their_task_is_done(engine):
    steps = []
    for _ in engine.results_of(engine_work.halfway, [0, 1], steps.append):
        steps.append(None)
    assert sum(step or 0 for step in steps) == 12
    assert steps.index(None) >= 2


def test_tasks_are_drawn_as_they_are_needed(engine):
    drawn, ahead = 0, []

    def tasks():
        nonlocal drawn
        for task in range(20):
            drawn += 1
            yield task

    for number, _ in enumerate(engine.results_of(Loading(), tasks())):
        ahead.append(drawn - number - 1)
    assert drawn == 20
    assert max(ahead) <= 2 * engine.workers


def test_the_task_of_a_killed_worker_is_done_again(engine, tmp_path):
    steps = []
    with pytest.warns(InputWarning, match=r"^a worker died on 1: .+; another worker retries it$") as told:
        done = list(engine.results_of(Dying(tmp_path, 2), range(6), steps.append))
    assert len(told) == 2
    assert sorted(done) == list(range(6))
    # The killed worker had begun only the first of its tasks, whose first step counts once.
    assert begun(tmp_path) == sorted([*range(6), 1, 1])
    assert sum(steps) == 12
    assert min(steps) > 0


def test_a_task_that_kills_three_workers_is_named(engine, tmp_path):
    told = r"^expected 1 to be done, 3 workers died on it; the last: .*; start again"
    with pytest.warns(InputWarning), pytest.raises(DiscsumError, match=told):
        list(engine.results_of(Dying(tmp_path, 9), range(2)))
    assert begun(tmp_path).count(1) == 3


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="needs signals without names")
@pytest.mark.parametrize(("number", "name"), [(signal.SIGKILL, "SIGKILL"), (40, "signal 40")])
def test_the_signal_that_killed_a_worker_is_told(bounded, tmp_path, number, name):
    told = f"^a worker died on 1: it was killed by {name}; another worker retries it$"
    with pytest.warns(InputWarning, match=told):
        assert sorted(engine_of("local", 2).results_of(Dying(tmp_path, 1, number), range(2))) == [0, 1]


@pytest.mark.parametrize(
    ("task", "kind", "message"),
    [
        ("format", FormatError, "^mill.rs3:3: expected a tree, got rain$"),
        ("own", DiscsumError, "^OwnError: wind and rain$"),
        ("value", ValueError, "^value$"),
    ],
)
def test_errors_pass_as_they_are(engine, task, kind, message):
    with pytest.raises(kind, match=message) as raised:
        list(engine.results_of(engine_work.failing, [task, task]))
    assert type(raised.value) is kind


def test_errors_of_pickles_pass_as_well(engine):
    with pytest.raises(TypeError, match=r"^cannot pickle '_thread.lock' object"):
        list(engine.results_of(engine_work.failing, ["result"]))
    with pytest.raises(DiscsumError, match=r"^expected weights here, found none$"):
        list(engine.results_of(Unreadable(), [0, 1]))


def test_closing_ends_the_workers(engine, tmp_path):
    results = engine.results_of(Waiting(tmp_path), range(4), lambda steps: None)
    with pytest.raises(KeyboardInterrupt):
        _interrupt(results, tmp_path)
    workers = [int(path.read_text()) for path in tmp_path.glob("*.begun")]
    assert len(workers) == 2
    deadline = time.monotonic() + 30
    while any(running(worker) for worker in workers):
        assert time.monotonic() < deadline, "a worker lives on"
        time.sleep(0.05)


def _interrupt(results, folder):
    """Interrupt the run, as Ctrl-C does, as soon as both workers are working."""

    def press():
        while len(list(folder.glob("*.begun"))) < 2:
            time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    # A shell that runs the tests in the background makes them ignore SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=press, daemon=True).start()
        next(results)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_worker_whose_driver_is_gone_ends_without_a_word(monkeypatch):
    """A killed run once left a traceback for each worker that was sending its result."""
    sent = []

    class Gone:
        def __init__(self):
            self.tasks = [pickle.dumps(1)]

        def recv_bytes(self):
            if self.tasks:
                return self.tasks.pop()
            threading.Event().wait()
            raise EOFError

        def send(self, message):
            sent.append(message)

        def send_bytes(self, content):
            raise BrokenPipeError(32, "Broken pipe")

    for name in ("signal.signal", "limit_threads"):
        monkeypatch.setattr(f"discsum.data.engines.local.{name}", lambda *_: None)
    assert local._serve(Gone(), pickle.dumps(engine_work.halfway)) is None
    assert len(sent) >= 1
