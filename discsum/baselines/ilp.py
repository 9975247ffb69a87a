"""ILP: an integer program that covers the document's words with a rooted subtree of the discourse tree."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from discsum.baselines import BASELINES
from discsum.baselines._rooted_subtree import RootedSubtree, Subtrees
from discsum.baselines.tree_knapsack import content_words, term_weights
from discsum.constants import COMMAND_LINE
from discsum.document import Document
from discsum.errors import warn_caller
from discsum.scoring import Scores
from discsum.selection import unit_texts

# Time limit per document in seconds; after it, the best subtree found so far is used.
LONGEST = 20.0
_REDIRECTING = threading.Lock()


@BASELINES.register("ilp")
class ILP(RootedSubtree):
    """Cover as many of the document's content words as the budget allows, counting each word once.

    The program is a substitute for that of Durrett et al. 2016, *Learning-Based Single-Document Summarization with
    Compression and Anaphoricity Constraints*, without trained weights and without coreference. Words are covered as in
    Gillick and Favre 2009, *A Scalable Global Model for Summarization*, section 3:

        maximise sum_w z_w log(1 + tf(w))   subject to   z_w <= sum_{u contains w} x_u,   x_u <= x_head(u),
        sum_u x_u cost(u) <= budget,   x and z 0 or 1

    HiGHS (in SciPy) solves it; when it repairs a solution, it prints a line to standard output. Unlike tree-knapsack,
    which sums the weights of units divided by their depths, it counts a repeated word only once. With scores that are
    not the baseline's own, such as those for a query, the gain of a word is multiplied by the greatest score of its
    units.
    """

    name = "ilp"

    def score(self, document: Document, unit: str) -> Scores:
        """Return the total weight of each unit's content words `(units,)`."""
        return term_weights(unit_texts(document, unit))

    def best(self, document: Document, scores: Scores, unit: str, subtrees: Subtrees, *, own: bool) -> list[int]:
        """Return the subtree with the greatest coverage, or the root alone if it exceeds the budget.

        It has no leaf all of whose words other nodes cover. Warn if the solver does not prove that it is optimal.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        nodes = len(subtrees.heads)
        is_root = subtrees.heads == np.arange(nodes)
        root = np.flatnonzero(is_root).tolist()
        if subtrees.costs[root].sum() > subtrees.capacity:
            return root
        found = content_words(unit_texts(document, unit))
        frequency = Counter(word for words_of in found for word in words_of)
        weights = np.ones(len(found)) if own else scores
        covered: dict[str, set[int]] = {}
        weight: dict[str, float] = {}
        for place, words_of in enumerate(found):
            for word in words_of if subtrees.counted[place] else ():
                covered.setdefault(word, set()).add(int(subtrees.nodes[place]))
                weight[word] = max(weight.get(word, 0.0), float(weights[place]))
        words = sorted(covered)
        # Variables are nodes, then words. Each constraint is (variables, coefficients, upper bound).
        rows = [(list(range(nodes)), subtrees.costs.tolist(), float(subtrees.capacity))]
        rows += [([node, head], [1, -1], 0.0) for node, head in enumerate(subtrees.heads.tolist()) if node != head]
        for place, word in enumerate(words):
            holders = sorted(covered[word])
            rows.append(([nodes + place, *holders], [1, *[-1] * len(holders)], 0.0))
        # SciPy before 1.15 takes no other integers.
        columns = np.concatenate([np.array(row[0], dtype=np.int32) for row in rows])
        values = np.concatenate([np.array(row[1], dtype=np.float64) for row in rows])
        places = np.repeat(np.arange(len(rows), dtype=np.int32), [len(row[0]) for row in rows])
        matrix = csr_array((values, (places, columns)), shape=(len(rows), nodes + len(words)))
        gains = np.concatenate([np.zeros(nodes), [weight[word] * np.log1p(frequency[word]) for word in words]])
        with _standard_output_to_error() if COMMAND_LINE in os.environ else nullcontext():
            result = milp(
                -gains,
                # If x is integral, so is the best z.
                integrality=np.concatenate([np.ones(nodes), np.zeros(len(words))]),
                bounds=Bounds(np.concatenate([is_root, np.zeros(len(words))]), 1),
                constraints=LinearConstraint(matrix, ub=np.array([row[2] for row in rows])),
                options={"mip_rel_gap": 0, "time_limit": LONGEST},
            )
        if result.status != 0:
            used = "the root alone" if result.x is None else "the best one found"
            warn_caller(
                f"{document.label}: expected the best subtree within {LONGEST:g} s, got {result.message}; "
                f"{used} is used; a shorter summary or tree-knapsack needs less time"
            )
        chosen = root if result.x is None else np.flatnonzero(result.x[:nodes] > 0.5).tolist()
        return _without_redundant_leaves(chosen, subtrees.heads, [covered[word] for word in words if weight[word] > 0])


def _without_redundant_leaves(
    chosen: Sequence[int], heads: NDArray[np.int64], covered: Sequence[set[int]]
) -> list[int]:
    """Return the chosen nodes without the leaves that add no word, last ones first; the root stays.

    The solver is free to add such nodes while the budget allows. `covered` has the nodes of each word.
    """
    kept = set(chosen)
    times = [len(nodes & kept) for nodes in covered]
    words_of: dict[int, list[int]] = {node: [] for node in kept}
    for word, nodes in enumerate(covered):
        for node in nodes & kept:
            words_of[node].append(word)
    children = Counter(int(heads[node]) for node in kept if heads[node] != node)
    waiting = [-node for node in kept if not children[node]]
    heapify(waiting)
    while waiting:
        node = -heappop(waiting)
        head = int(heads[node])
        if head == node or any(times[word] == 1 for word in words_of[node]):
            continue
        kept.remove(node)
        for word in words_of[node]:
            times[word] -= 1
        children[head] -= 1
        if not children[head]:
            heappush(waiting, -head)
    return sorted(kept)


@contextmanager
def _standard_output_to_error() -> Iterator[None]:
    """Redirect standard output of the whole process to standard error inside the block, for the command line alone.

    When HiGHS repairs a solution, it prints a line from C, whatever its options: jump-dev/HiGHS.jl, issue 312. SciPy
    1.17 still prints it.
    """
    # One thread at a time: a second one would keep, and restore, the redirected output.
    with _REDIRECTING:
        if sys.stdout is not None:
            sys.stdout.flush()
        _flush_c()
        kept = _redirected()
        try:
            yield
        finally:
            if kept is not None:
                _flush_c()
                os.dup2(kept, 1)
                os.close(kept)


def _redirected() -> int | None:
    """Redirect standard output, and return a copy of its descriptor; None if standard output or error is closed."""
    try:
        kept = os.dup(1)
    except OSError:
        return None
    try:
        os.dup2(2, 1)
    except OSError:
        os.close(kept)
        return None
    return kept


def _flush_c() -> None:
    """Flush the output buffers of C, which buffers output that does not go to a terminal."""
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)
