"""Attention heads: where the matrix `A` of `A . G(X)` comes from. One small file each."""

from __future__ import annotations

import hashlib
import inspect
import sys
from importlib.metadata import entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from discsum.encoder.heads.base import Head, HeadConfig, Prior, UnitTree
from discsum.encoder.heads.c_tree import CTreeHead
from discsum.encoder.heads.c_tree_confidence import CTreeConfidenceHead
from discsum.encoder.heads.c_tree_nuc import CTreeNucHead
from discsum.encoder.heads.c_tree_relation import CTreeRelationHead
from discsum.encoder.heads.d_tree import DTreeHead
from discsum.encoder.heads.dense import DenseHead
from discsum.encoder.heads.dot_product import DotProductHead
from discsum.encoder.heads.fixed_random import FixedRandomHead
from discsum.encoder.heads.learned_random import LearnedRandomHead
from discsum.encoder.heads.mixed import MixedHead
from discsum.encoder.heads.none import NoHead
from discsum.errors import InputError

HEADS: dict[str, type[Head]] = {
    "dot_product": DotProductHead,
    "dense": DenseHead,
    "learned_random": LearnedRandomHead,
    "fixed_random": FixedRandomHead,
    "none": NoHead,
    "d_tree": DTreeHead,
    "c_tree": CTreeHead,
    "c_tree_nuc": CTreeNucHead,
    "c_tree_confidence": CTreeConfidenceHead,
    "c_tree_relation": CTreeRelationHead,
    "mixed": MixedHead,
}


OWN = tuple(HEADS)
# Packages name heads of theirs in this group of entry points: `sparse = "my_package.sparse:SparseHead"`.
GROUP = "discsum.heads"
REMEDY = (
    "a head of one's own is made known with --head-file FILE.py, which calls discsum.encoder.heads.register, or by a "
    f"package with an entry point of the group {GROUP}"
)


def register(name: str, head: type[Head]) -> None:
    """Make a head known under a name, for recipes and saved models of this process.

    A package does so for every process with an entry point of the group `discsum.heads`.

    Raises:
        InputError: A name that is taken, or a class that is no head.
    """
    if HEADS.get(name, head) is not head:
        raise InputError(f"expected a new name for a head, got {name!r}, which is {HEADS[name].__qualname__}")
    if not (isinstance(head, type) and issubclass(head, Head)):
        raise InputError(f"{name}: expected a subclass of {Head.__module__}.Head, got {head!r}")
    HEADS[name] = head


def register_file(path: str | Path) -> None:
    """Run a Python file that calls `register`, once a process. It is code like any other: run only what you trust.

    Raises:
        InputError: No such file, one that raises an error, or one that makes no head known.
    """
    path = Path(path)
    name = f"discsum_heads_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if name in sys.modules:
        return
    spec = spec_from_file_location(name, path) if path.suffix == ".py" and path.is_file() else None
    if spec is None or spec.loader is None:
        raise InputError(f"--head-file: expected a Python file that calls {__name__}.register, got {path}")
    known = set(HEADS)
    # Found by its name, as classes and their source are.
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        if not HEADS.keys() - known:
            raise InputError(f"expected a call of {__name__}.register, found none")
    except Exception as error:
        del sys.modules[name]
        what = str(error) if isinstance(error, InputError) else f"expected code that runs, got {_shown(error)}"
        raise InputError(f"{path}: {what}") from error


def make_head(name: str, config: HeadConfig) -> Head:
    """Return a new head of that name.

    Raises:
        InputError: An unknown name; the message lists the heads.
    """
    return head_type(name)(config)


def head_type(name: str) -> type[Head]:
    """Return the head of that name: one of discsum's own, a registered one, or that of an installed package.

    Raises:
        InputError: An unknown name; the message lists the heads.
    """
    if name not in HEADS:
        found = {entry.name: entry for entry in entry_points(group=GROUP)}
        if name not in found:
            raise InputError(f"expected a head among {', '.join([*HEADS, *found])}, got {name!r}; {REMEDY}")
        try:
            head = found[name].load()
        except Exception as error:
            raise InputError(
                f"{name}: expected the entry point {found[name].value} of the group {GROUP} to load, got "
                f"{_shown(error)}; repair or remove the package that has it"
            ) from error
        register(name, head)
    return HEADS[name]


def origin(name: str) -> str:
    """Return where the code of a head is that is none of discsum's own, as `file.py:Class`; nothing for its own."""
    if name in OWN:
        return ""
    head = head_type(name)
    try:
        file = Path(inspect.getfile(head)).name
    except (OSError, TypeError):
        # Typed at a prompt.
        file = head.__module__
    return f"{file}:{head.__qualname__}"


def _shown(error: Exception) -> str:
    """Return an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


__all__ = [
    "HEADS",
    "Head",
    "HeadConfig",
    "Prior",
    "UnitTree",
    "head_type",
    "make_head",
    "origin",
    "register",
    "register_file",
]
