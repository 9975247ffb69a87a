"""Code that workers of every engine run."""

from __future__ import annotations

import os
import pickle  # nosec B403 # between a process and its own workers
import sys
import traceback
import warnings
from collections.abc import Callable

from discsum.data.engines._messages import Done, Failed, Steps
from discsum.data.engines.base import Result, Step, Task
from discsum.errors import DiscsumError, InputWarning


def attempt(work: Callable[[Task, Step], Result], task: Task, tell: Callable[[Steps], None]) -> Done | Failed:
    """Do a task, reporting its steps with `tell`; return its result and warnings about inputs, or its error."""
    count = 0

    def step(steps: int) -> None:
        nonlocal count
        count += steps
        tell(Steps(count))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            result = work(task, step)
        except Exception as error:
            return failed(error)
    # The driver shows warnings about texts and files, because users do not see what a worker prints. Others stay here.
    for one in caught:
        if not issubclass(one.category, InputWarning):
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)
    return Done(result, count, tuple(str(one.message) for one in caught if issubclass(one.category, InputWarning)))


def failed(error: Exception) -> Failed:
    """Return an error as a message that another process can read."""
    trace = "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))  # nosec B301 # its own error
    except Exception:
        # Errors whose constructors have their own arguments often cannot be pickled.
        return Failed(DiscsumError(f"{type(error).__name__}: {error}"), trace)
    return Failed(error, trace)


def limit_threads(count: int) -> None:
    """Let torch, whether or not it is already imported, and tokenizers use `count` threads."""
    # Torch reads this variable when it is imported. Work that does not need torch need not import it.
    os.environ["OMP_NUM_THREADS"] = os.environ["RAYON_NUM_THREADS"] = str(count)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(count)
