"""Registries: the entries of one kind (heads, oracles, formats, ...) by name, one file each.

Names are file names, so the command line knows them without imports; an entry is imported on first use.
Packages add entries by entry points, programs by `register` or by a file that calls it.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from discsum.errors import InputError, warn_caller

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
Value = TypeVar("Value")


@dataclass(frozen=True)
class Entry(Generic[T]):
    """A registered value (usually a class or function) with its options class, and facts like `edu_only`.

    `digest` is that of the file that defines it, as it was when it was registered; empty for the package's own.
    """

    value: T
    options: type | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""


class Registry(Generic[T]):
    """Entries of one kind by name.

    A module of the package registers the entry of its own name: `@HEADS.register("dense", options=DenseOptions)` in
    `dense.py`. `base.py` and files that start with `_` are not entries. Other packages add entries by entry points:
    `sparse = "my_package.sparse:SparseHead"`.
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
            kind: Name of an entry in errors: `head`.
            package: The package whose modules are the entries: `discsum.encoder.heads`.
            group: The group of entry points: `discsum.heads`.
            dashes: Whether `_` in a file name becomes `-` in the entry's name.
            option: The command-line option for files that call `register`, if there is one.
            wanted: Returns a description of valid values for an invalid one, otherwise an empty string.
        """
        self.kind, self.package, self.group = kind, package, group
        self._dashes, self._option, self._wanted = dashes, option, wanted
        # Entries from outside the package, and the imported ones of the package.
        self.registered: dict[str, Entry[T]] = {}
        self._imported: dict[str, Entry[T]] = {}
        self._a_kind = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"

    @cached_property
    def _modules(self) -> dict[str, str]:
        spec = find_spec(self.package)
        folders = (spec and spec.submodule_search_locations) or ()
        stems = sorted(path.stem for folder in folders for path in Path(folder).glob("*.py"))
        return {
            stem.replace("_", "-") if self._dashes else stem: f"{self.package}.{stem}"
            for stem in stems
            if not stem.startswith("_") and stem != "base"
        }

    @property
    def own(self) -> tuple[str, ...]:
        """The names of the package's own entries, in alphabetical order; nothing is imported."""
        return tuple(self._modules)

    def names(self, *, installed: bool = True) -> list[str]:
        """Return all names; those of other packages' entry points, which take time to find, only if `installed`."""
        return [*dict.fromkeys((*self.own, *self.registered, *(self._points() if installed else ())))]

    def __iter__(self) -> Iterator[str]:
        """Iterate over all names."""
        return iter(self.names())

    def __contains__(self, name: object) -> bool:
        """Return whether there is an entry of that name; nothing is imported."""
        return name in self.registered or name in self._modules or name in self.names()

    def __getitem__(self, name: str) -> T:
        """Return the registered value; errors as in `entry`."""
        return self.entry(name).value

    def entry(self, name: str) -> Entry[T]:
        """Return the entry of that name, imported if necessary.

        Raises:
            InputError: An unknown name (the message lists the choices), or an entry point that cannot be loaded.
        """
        if name in self._modules:
            if name in self._hidden:
                warn_caller(
                    f"{name}: left out the entry point {self._hidden[name]} of the group {self.group}, because "
                    f"discsum has {self._a_kind} of this name; rename it"
                )
            import_module(self._modules[name])
            return self._imported[name]
        if name not in self.registered:
            self._load(name)
        return self.registered[name]

    @overload
    def register(
        self, name: str, value: None = None, *, options: type | None = None, **facts: Any
    ) -> Callable[[Value], Value]: ...

    @overload
    def register(self, name: str, value: Value, *, options: type | None = None, **facts: Any) -> Value: ...

    def register(self, name: str, value: Any = None, *, options: type | None = None, **facts: Any) -> Any:
        """Register a value under a name in this process; without a value, return a decorator.

        A class or function of the same name and module replaces the one that is registered.

        Raises:
            InputError: A name that is taken, or a value of another kind.
        """
        if value is None:
            return lambda given: self.register(name, given, options=options, **facts)
        module = self._modules.get(name)
        if module:
            # The package's own names are taken even before their modules are imported.
            import_module(module)
        known = self._imported if module else self.registered
        # The same definition, run again in a notebook or by a reload, replaces the earlier one.
        if name in known and known[name].value is value:
            return value
        if name in known and (module or _definition(known[name].value) != _definition(value)):
            shown = getattr(known[name].value, "__qualname__", repr(known[name].value))
            raise InputError(f"expected a new name for {self._a_kind}, got {name!r}, which is taken by {shown}")
        wanted = self._wanted(value)
        if wanted:
            raise InputError(f"{name}: expected {wanted}, got {value!r}")
        # Read now, because the file may be edited while a run goes on with the code that it has.
        known[name] = Entry(value, options, facts, "" if module else _digest(value))
        return value

    def register_file(self, path: str | Path) -> None:
        """Run a Python file that calls `register`, once per process. Run only trusted files.

        Raises:
            InputError: No such file, one that raises an error, or one that registers nothing.
        """
        path, call = Path(path), f"{self.package}.register"
        name = f"discsum_{self.kind}s_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}".replace(" ", "_")
        if name in sys.modules:
            return
        spec = spec_from_file_location(name, path) if path.suffix == ".py" and path.is_file() else None
        if spec is None or spec.loader is None:
            found = path if path.exists() else f"{path}, which does not exist"
            raise InputError(f"expected a Python file that calls {call}, got {found}")
        known = set(self.registered)
        # `inspect` finds classes and their source by module name.
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            if not self.registered.keys() - known:
                raise InputError(f"expected a call to {call}, found none")
        except Exception as error:
            # Forgotten, so that the corrected file can be registered.
            del sys.modules[name]
            for added in self.registered.keys() - known:
                del self.registered[added]
            problem = str(error) if isinstance(error, InputError) else f"expected code that runs, got {_shown(error)}"
            raise InputError(f"{path}: {problem}") from error

    def origin(self, name: str) -> str:
        """Return the source of an entry as `file.py:Class` or `package.module:Class`; empty for the package's own."""
        if name in self._modules:
            return ""
        value: Any = self[name]
        module = sys.modules.get(getattr(value, "__module__", ""))
        if module is not None and module.__package__ and module.__name__ != "__main__":
            # A module of an installed package, whose name says more than that of its file.
            return f"{module.__name__}:{getattr(value, '__qualname__', name)}"
        try:
            file = Path(inspect.getfile(value)).name
        except (OSError, TypeError):
            # Defined at a prompt, or neither class nor function.
            file = getattr(value, "__module__", "")
        return f"{file}:{getattr(value, '__qualname__', name)}"

    def code(self, name: str) -> dict[str, str]:
        """Return the origin of an entry and a digest of its file, as `{kind: ...}`; empty for the package's own.

        What was made with an entry is made again if its code changes.
        """
        origin = self.origin(name)
        return {self.kind: f"{origin} {self.entry(name).digest}"} if origin else {}

    def _points(self) -> Mapping[str, Sequence[EntryPoint]]:
        """Return the different entry points of each name."""
        return _entry_points(self.group, tuple(sys.path))

    @cached_property
    def _hidden(self) -> dict[str, str]:
        """The entry points of other packages that have the name of an own entry."""
        return {name: points[0].value for name, points in self._points().items() if name in self._modules}

    def _load(self, name: str) -> None:
        """Load and register the entry point of an installed package."""
        if name not in self._points():
            # A package may have been installed since.
            _entry_points.cache_clear()
        points = self._points().get(name)
        if points is None:
            names = self.names()
            message = f"expected one of the {self.kind}s {', '.join(names)}, got {name!r}{suggestion(name, names)}"
            if self._option:
                message += (
                    f"; to add {self._a_kind}, use {self._option} FILE.py with a file that calls "
                    f"{self.package}.register, or a package with an entry point in the group {self.group}"
                )
            raise InputError(message)
        if len(points) > 1:
            raise InputError(
                f"{name}: expected one entry point of this name in the group {self.group}, got "
                f"{', '.join(point.value for point in points)}; rename one, or remove one of the packages"
            )
        point = points[0]
        try:
            value = point.load()
        except Exception as error:
            raise InputError(
                f"{name}: expected the entry point {point.value} of the group {self.group} to load, got "
                f"{_shown(error)}; repair or remove the package that provides it"
            ) from error
        self.register(name, value)


def call_problem(function: Callable[..., Any], *arguments: Any, **options: Any) -> str:
    """Return why a function does not take these arguments; empty if it does, or if compiled code does not say."""
    try:
        taken = signature_of(function, follow_wrapped=False)
    except ValueError:
        return ""
    try:
        taken.bind(*arguments, **options)
    except TypeError as error:
        return f"{taken}: {error}"
    return ""


def signature_of(function: Callable[..., Any], *, follow_wrapped: bool = True) -> inspect.Signature:
    """Return the signature of a function, or of the one that it wraps.

    Raises:
        ValueError: Compiled code that does not say what it takes.
    """
    if sys.version_info >= (3, 14):
        # Annotations are evaluated when they are asked for, and may name what only type checkers import.
        from annotationlib import Format

        return inspect.signature(function, follow_wrapped=follow_wrapped, annotation_format=Format.FORWARDREF)
    return inspect.signature(function, follow_wrapped=follow_wrapped)


def suggestion(name: object, names: Sequence[str]) -> str:
    """Return ` (did you mean NAME?)` with the nearest of the names, or an empty string if none is near."""
    near = get_close_matches(str(name), names, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


@lru_cache(maxsize=64)
def _entry_points(group: str, path: tuple[str, ...]) -> Mapping[str, Sequence[EntryPoint]]:
    """Return the different entry points of each name in a group, of the packages on `path`, which is `sys.path`.

    Kept, because it reads the metadata of every installed package, and names are asked for with every file.
    """
    # Imported late, because the command line's help does not need it.
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=group):
        same = found.setdefault(point.name, [])
        # An editable installation may list a package twice.
        if point.value not in [other.value for other in same]:
            same.append(point)
    return found


def _definition(value: Any) -> Any:
    """Return the module and name of a class or function; of a record, those in its fields; otherwise the value."""
    if hasattr(value, "__qualname__"):
        return value.__module__, value.__qualname__
    return [_definition(getattr(value, one.name)) for one in fields(value)] if is_dataclass(value) else value


def _digest(value: Any) -> str:
    """Return a digest of the file that defines a class or function."""
    try:
        source = Path(inspect.getfile(value)).read_bytes()
    except (OSError, TypeError):
        # Defined at a prompt, or neither class nor function.
        source = b""
    return hashlib.sha256(source).hexdigest()[:16]


def _shown(error: Exception) -> str:
    """Return an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
