"""Read YAML of recipes, split lists and options: plain values of limited size, with one-line error messages.

Unlike in standard YAML, dates are read as strings and duplicate keys are errors. Aliases are rejected because a few
lines of them can expand to more values than fit into memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from discsum.errors import InputError
from discsum.files import read_at_most

MOST_BYTES = 4 * 1024**2
_DATE = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """The safe loader with the restrictions in the module's docstring."""

    yaml_implicit_resolvers = {  # noqa: RUF012 (PyYAML's name and type)
        letter: [(tag, pattern) for tag, pattern in found if tag != _DATE]
        for letter, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            alias: Any = self.peek_event()  # type: ignore[no-untyped-call]
            raise ComposerError(None, None, "expected values in full, got an alias", alias.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen = set[str]()
        for key, _ in node.value:
            # Lists and mappings, which the base class rejects as keys.
            if not isinstance(key.value, str):
                continue
            if key.value in seen:
                raise ConstructorError(None, None, f"expected {key.value} once, got it again", key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> Any:
    """Return the value in a YAML file.

    Raises:
        InputError: A file that cannot be read, is larger than `MOST_BYTES` bytes, or is not YAML in UTF-8.
    """
    try:
        text = read_at_most(path, MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: expected a YAML file: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: expected YAML in UTF-8, got byte {error.start} that is not") from error
    return parse_yaml(text, str(path))


def parse_yaml(text: str, source: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        InputError: The text is not valid YAML; the message begins with `source` and names the line.
    """
    try:
        # Safe, because `_Loader` is a subclass of the safe loader.
        return yaml.load(text, _Loader)  # nosec B506
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{source}:{mark.line + 1}" if mark and "\n" in text else source
        raise InputError(f"{place}: expected YAML, {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        # Scalars that do not fit their explicit tags, such as !!bool "abc", may raise any of these.
        said = str(error).partition("\n")[0]
        raise InputError(f"{source}: expected YAML, got {said}") from error
    except RecursionError as error:
        raise InputError(f"{source}: expected YAML with fewer nested levels") from error


def flow(fields: dict[str, Any]) -> str:
    """Return fields as YAML on one line, `{path: a.jsonl, last: 3}`."""
    return yaml.safe_dump(fields, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9).strip()
