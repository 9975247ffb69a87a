"""Oracle labels: the units that a greedy search against the reference selects; one file per oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING

from discsum.batches import check_several
from discsum.errors import InputError, warn_caller
from discsum.metrics.rouge_words import are_dropped
from discsum.registry import Registry, call_problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discsum.document import Document

# An oracle takes the units' texts, the references, the maximum number of units and, if `edu_only`, the heads `(edus,)`.
# It returns the selected units. Facts of an oracle: `units`, the default maximum number of units, as in its paper;
# `edu_only`, whether it needs EDUs.
ORACLES: Registry[Callable[..., list[int]]] = Registry("oracle", "discsum.oracles", "discsum.oracles", dashes=True)
register = ORACLES.register


def is_edu_only(name: str) -> bool:
    """Return whether an oracle labels EDUs alone; false for `none`."""
    return name in ORACLES and bool(ORACLES.entry(name).facts.get("edu_only"))


def oracle_labels(
    name: str,
    units: Sequence[str],
    references: str | Sequence[str],
    k: int | None = None,
    heads: NDArray[np.int64] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> NDArray[np.int8]:
    """Return the labels `(units,)`: 1 for units of the oracle summary and 0 for the others.

    Args:
        name: One of `ORACLES`.
        units: The units' texts.
        references: The reference summary, or several.
        k: Maximum number of units; by default as in the oracle's paper.
        heads: `(units,)` the EDU that each EDU depends on in its sentence, -1 for none; only needed by oracles that are
            `edu_only`.
        groups: `(units,)` first unit of the group that each unit is selected with (`same_unit_groups`); the oracle
            treats a group as one unit.

    Raises:
        TypeError: A single text instead of the units' texts, or anything other than texts.
        InputError: An unknown name (the message lists the choices), no reference, missing heads, heads or groups of
            another number, a `k` below 1, or an oracle that does not return different indices.
    """
    import numpy as np

    from discsum.dependency import group_heads

    if isinstance(units, str):
        raise TypeError("units: expected the units' texts, got a single text; put it in a list, or parse it")
    oracle = ORACLES.entry(name)
    texts = [references] if isinstance(references, str) else _texts("references", references)
    units = _texts("units", units)
    if not any(text.strip() for text in texts):
        raise InputError("expected a reference summary to make oracle labels, got none")
    if k is not None and (isinstance(k, bool) or not isinstance(k, Integral) or k < 1):
        raise InputError(f"k: expected a whole number of units of at least 1, got {k!r}")
    edu_only = is_edu_only(name)
    if edu_only and heads is None:
        raise InputError(f"{name}: expected EDUs that depend on each other, got units without heads; use unit edu")
    _check_for_each(units, heads=heads, groups=groups)
    limit = oracle.facts.get("units") if k is None else k
    first, group = np.unique(np.arange(len(units)) if groups is None else groups, return_inverse=True)
    merged = [""] * len(first)
    for text, index in zip(units, group.tolist(), strict=True):
        merged[index] = f"{merged[index]} {text}".lstrip()
    if edu_only and heads is not None:
        above = group_heads(np.asarray(heads), group)
        heads = np.where(above == np.arange(len(first)), -1, above)
    arguments = (merged, texts, limit, *((heads,) if edu_only else ()))
    _check_takes(name, oracle.value, arguments)
    found = oracle.value(*arguments)
    indices = np.asarray(sorted(found) if isinstance(found, set | frozenset) else [] if found is None else found)
    chosen = indices.ravel().tolist()
    if found is None or indices.dtype == bool or len({*chosen} & {*range(len(first))}) < len(chosen):
        raise InputError(f"{name}: expected different indices of {len(first)} units from the oracle, got {chosen[:9]}")
    if are_dropped(texts):
        warn_caller(
            f"{name}: expected references with words of the letters a to z and digits, which alone ROUGE counts, got "
            "mostly other letters; do not trust the labels of these documents"
        )
    return np.isin(group, chosen).astype(np.int8)


def _check_for_each(units: Sequence[str], **given: NDArray[np.int64] | None) -> None:
    """Raise `InputError` for arrays, by name, that do not have one entry for each unit."""
    import numpy as np

    for name, values in given.items():
        if values is not None and np.shape(values) != (len(units),):
            raise InputError(f"{name}: expected one for each of {len(units)} units, got shape {np.shape(values)}")


def _check_takes(name: str, oracle: Callable[..., list[int]], arguments: tuple[object, ...]) -> None:
    if problem := call_problem(oracle, *arguments):
        wanted = "units, references, k and, registered with edu_only=True, heads"
        raise InputError(f"{name}: expected an oracle that takes {wanted}, got {problem}")


def document_labels(
    name: str, document: Document, unit: str, references: str | Sequence[str], k: int | None = None
) -> NDArray[np.int8]:
    """Return the oracle labels `(units,)` of a document's sentences or EDUs.

    Of EDUs, the parts of a clause that others interrupt have the same label, and oracles that are `edu_only` get the
    heads in the tree. Other arguments and errors as in `oracle_labels`.
    """
    from discsum.candidates import Candidates
    from discsum.document import Document
    from discsum.selection import unit_texts

    if not isinstance(document, Document):
        raise TypeError(f"document: expected Document, got {type(document).__name__}; parse the text first")
    texts, with_heads = unit_texts(document, unit), unit == "edu" and is_edu_only(name)
    candidates = Candidates.of(document, unit, dependencies=with_heads)
    return oracle_labels(name, texts, references, k, candidates.heads if with_heads else None, candidates.groups)


def _texts(name: str, given: Iterable[str]) -> list[str]:
    check_several(given, name)
    found = [*given]
    if not all(isinstance(text, str) for text in found):
        raise TypeError(f"{name}: expected texts, got {given!r:.80}")
    return found


__all__ = ["ORACLES", "document_labels", "oracle_labels", "register"]
