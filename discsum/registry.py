"""Registries: what there is of one kind (heads, oracles, formats, ...), by name, each in a file of its own.

The names are those of the files, so that the command line knows them without importing anything; an entry is imported
when it is first used. Packages add to a registry by entry points, programs by `register` or by a file of their own.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from discsum.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Entry(Generic[T]):
    """What is registered under a name.

    Attributes:
        name: The name.
        value: The class or function, or whatever else the registry holds.
        summary: One line on it: the first of its module's docstring unless it was registered with another.
        options: The dataclass of its own options, if it has any.
        facts: What else is known of it, as `edu_only`: words, numbers and truth values.
    """

    name: str
    value: T
    summary: str = ""
    options: type | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class Registry(Generic[T]):
    """What there is of one kind, by name.

    A module of the package registers one entry under its own name: `@HEADS.register("dense", options=DenseOptions)` in
    `dense.py`. `base.py` and files that begin with `_` hold what entries share. Entries of other packages are found in
    a group of entry points: `sparse = "my_package.sparse:SparseHead"`.

    Attributes:
        kind: What errors call an entry: `head`.
        package: The package whose modules are the entries: `discsum.encoder.heads`.
        group: The group of entry points: `discsum.heads`.
        registered: What was registered so far beside discsum's own, by name.
    """

    def __init__(
        self,
        kind: str,
        package: str,
        group: str,
        *,
        dashes: bool = False,
        option: str = "",
        wanted: Callable[[Any], str] = lambda value: "" if callable(value) else "a class or function",
    ) -> None:
        """Describe the registry; nothing is imported.

        Args:
            kind: What errors call an entry.
            package: The package whose modules are the entries.
            group: The group of entry points.
            dashes: Whether `_` in the name of a file is `-` in that of its entry.
            option: The command-line option that takes files that call `register`, if there is one.
            wanted: Returns what an entry should have been, and nothing if it is that.
        """
        self.kind, self.package, self.group = kind, package, group
        self._dashes, self._option, self._wanted = dashes, option, wanted
        self.registered: dict[str, Entry[T]] = {}
        self._imported: dict[str, Entry[T]] = {}

    @cached_property
    def _files(self) -> dict[str, Path]:
        spec = find_spec(self.package)
        folders = (spec and spec.submodule_search_locations) or ()
        files = sorted(path for folder in folders for path in Path(folder).glob("*.py"))
        return {
            path.stem.replace("_", "-") if self._dashes else path.stem: path
            for path in files
            if not path.stem.startswith("_") and path.stem != "base"
        }

    @property
    def _a_kind(self) -> str:
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    def _module(self, name: str) -> str:
        return f"{self.package}.{self._files[name].stem}"

    @property
    def own(self) -> tuple[str, ...]:
        """The names of discsum's own entries, in alphabetical order; nothing is imported."""
        return tuple(self._files)

    def names(self, *, installed: bool = True, having: str = "", without: Sequence[str] = ()) -> list[str]:
        """Return all names: discsum's own, those registered, and those of installed packages.

        Args:
            installed: Whether to look for entry points of other packages, which takes a while.
            having: A fact that must be true of an entry for it to be named.
            without: Facts that must not be.
        """
        found = dict.fromkeys((*self.own, *self.registered, *(self._points() if installed else ())))
        if having:
            found = {name: None for name in found if self.facts(name).get(having)}
        if without:
            found = {name: None for name in found if not any(map(self.facts(name).get, without))}
        return list(found)

    def __iter__(self) -> Iterator[str]:
        """Iterate over all names."""
        return iter(self.names())

    def __len__(self) -> int:
        """Return how many names there are."""
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        """Return whether there is an entry of that name; none is imported."""
        return name in self.registered or name in self._files or name in self.names()

    def __getitem__(self, name: str) -> T:
        """Return the class or function of that name.

        Raises:
            InputError: As `entry`.
        """
        return self.entry(name).value

    def entry(self, name: str) -> Entry[T]:
        """Return the entry of that name, imported if it was not yet.

        Raises:
            InputError: An unknown name (the message lists the choices), or the entry point of another package that
                cannot be loaded.
        """
        if name in self._files:
            if name not in self._imported:
                import_module(self._module(name))
            return self._imported[name]
        if name not in self.registered:
            self._load(name)
        return self.registered[name]

    def facts(self, name: str) -> Mapping[str, Any]:
        """Return what is known of an entry; discsum's own are not imported for it.

        Raises:
            InputError: As `entry`.
        """
        return _declared(self._files[name], name)[1] if name in self._files else self.entry(name).facts

    def summary(self, name: str) -> str:
        """Return one line on an entry; discsum's own are not imported for it.

        Raises:
            InputError: As `entry`.
        """
        return _declared(self._files[name], name)[0] if name in self._files else self.entry(name).summary

    def unknown(self, name: object) -> str:
        """Return what to say of a name that is none: the choices, the nearest of them, and how to add one."""
        names = self.names()
        remedy = (
            f"; {self._a_kind} of one's own is made known with {self._option} FILE.py, which calls "
            f"{self.package}.register, or by a package with an entry point of the group {self.group}"
        )
        said = f"expected {self._a_kind} among {', '.join(names)}, got {name!r}{suggestion(name, names)}"
        return said + (remedy if self._option else "")

    @overload
    def register(
        self, name: str, value: None = None, *, summary: str = "", options: type | None = None, **facts: Any
    ) -> Callable[[Value], Value]: ...

    @overload
    def register(
        self, name: str, value: Value, *, summary: str = "", options: type | None = None, **facts: Any
    ) -> Value: ...

    def register(
        self, name: str, value: Any = None, *, summary: str = "", options: type | None = None, **facts: Any
    ) -> Any:
        """Make a class or function known under a name in this process; without a value, return the decorator for it.

        Args:
            name: The name.
            value: The class or function.
            summary: One line on it.
            options: The dataclass of its own options.
            facts: What else is known of it. In discsum's own modules they are literals, read without importing them.

        Raises:
            InputError: A name that is taken, or a value that is none of the kind.
        """
        if value is None:
            return lambda given: self.register(name, given, summary=summary, options=options, **facts)
        own = name in self._files
        if own and self._module(name) not in sys.modules:
            self.entry(name)
        known = self._imported if own else self.registered
        if name in known and known[name].value is not value:
            shown = getattr(known[name].value, "__qualname__", repr(known[name].value))
            raise InputError(f"expected a new name for {self._a_kind}, got {name!r}, which is {shown}")
        wanted = self._wanted(value)
        if wanted:
            raise InputError(f"{name}: expected {wanted}, got {value!r}")
        if name not in known:
            first_line = self.summary(name) if own else (inspect.getdoc(value) or "").partition("\n")[0]
            known[name] = Entry(name, value, summary or first_line, options, facts)
        return value

    def register_file(self, path: str | Path) -> None:
        """Run a Python file that calls `register`, once a process. It is code like any other: run only what you trust.

        Raises:
            InputError: No such file, one that raises an error, or one that makes nothing known.
        """
        path, call = Path(path), f"{self.package}.register"
        name = f"discsum_{self.kind}s_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}".replace(" ", "_")
        if name in sys.modules:
            return
        spec = spec_from_file_location(name, path) if path.suffix == ".py" and path.is_file() else None
        if spec is None or spec.loader is None:
            start = f"{self._option}: " if self._option else ""
            raise InputError(f"{start}expected a Python file that calls {call}, got {path}")
        known = set(self.registered)
        # Found by its name, as classes and their source are.
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            if not self.registered.keys() - known:
                raise InputError(f"expected a call of {call}, found none")
        except Exception as error:
            del sys.modules[name]
            what = str(error) if isinstance(error, InputError) else f"expected code that runs, got {_shown(error)}"
            raise InputError(f"{path}: {what}") from error

    def origin(self, name: str) -> str:
        """Return where the code of an entry is, as `file.py:Class`; nothing for discsum's own."""
        if name in self._files:
            return ""
        value: Any = self[name]
        try:
            file = Path(inspect.getfile(value)).name
        except (OSError, TypeError):
            # Typed at a prompt, or no class or function.
            file = getattr(value, "__module__", "")
        return f"{file}:{getattr(value, '__qualname__', name)}"

    def _points(self) -> dict[str, EntryPoint]:
        # Late: the command line's help does without it.
        from importlib.metadata import entry_points

        return {point.name: point for point in entry_points(group=self.group)}

    def _load(self, name: str) -> None:
        """Import and register what an installed package has under a name."""
        found = self._points()
        if name not in found:
            raise InputError(self.unknown(name))
        try:
            value = found[name].load()
        except Exception as error:
            raise InputError(
                f"{name}: expected the entry point {found[name].value} of the group {self.group} to load, got "
                f"{_shown(error)}; repair or remove the package that has it"
            ) from error
        self.register(name, value)


def suggestion(name: object, names: Sequence[str]) -> str:
    """Return ` (did you mean NAME?)` with the nearest of the names, or nothing if none is near."""
    near = get_close_matches(str(name), names, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


@cache
def _declared(file: Path, name: str) -> tuple[str, dict[str, Any]]:
    """Return the summary and the facts of an entry as its module's source has them; the module is not run."""
    source = file.read_text(encoding="utf-8")
    given = {key.arg: key.value.value for key in _call(source, name) if key.arg and isinstance(key.value, ast.Constant)}
    first_line = source.removeprefix('"""').partition("\n")[0].removesuffix('"""')
    return str(given.pop("summary", first_line)), given


def _call(source: str, name: str) -> list[ast.keyword]:
    """Return the keywords of the call that registers a name; the rest of the source, which is longer, is not parsed."""
    start = re.search(rf'^@?(\w+\.register\(\s*"{re.escape(name)}")', source, re.MULTILINE)
    lines = source[start.start(1) :].splitlines() if start else []
    for count in range(1, len(lines) + 1):
        try:
            call = ast.parse("\n".join(lines[:count]), mode="eval").body
        except SyntaxError:
            continue
        return call.keywords if isinstance(call, ast.Call) else []
    return []


def _shown(error: Exception) -> str:
    """Return an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
