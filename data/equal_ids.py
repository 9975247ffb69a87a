"""Notice files whose documents would get the same ids, because ids have no folders."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress

from discsum.data.storage import Location
from discsum.data.tables import is_table, own_id, read_rows, stem_of
from discsum.errors import DiscsumError, InputWarning, number_of, warn_caller


def warn_of_equal_ids(paths: Iterable[Location]) -> None:
    """Warn if files have the same name apart from folder and suffix; of tables only if rows seem to have no ids."""
    first: dict[tuple[bool, str], Location] = {}
    texts, tables = list[tuple[Location, Location]](), list[tuple[Location, Location]]()
    for path in paths:
        table = is_table(path)
        other = first.setdefault((table, stem_of(path, packed=table)), path)
        if other != path:
            (tables if table else texts).append((other, path))
    # Only one table is read, because there may be thousands.
    repeated = [*texts, *([] if tables and _has_ids(tables[0][1]) else tables)]
    if repeated:
        one, other = repeated[0]
        warn_caller(
            f"found {number_of(len(repeated), 'file')} with the same name as another one, such as {other} and {one}; "
            "their documents get the same ids, because ids leave out folders; rename the files, or add a column id to "
            "tables"
        )


def _has_ids(table: Location) -> bool:
    """Return whether the first row of a table has an id, or cannot be read."""
    with suppress(DiscsumError, OSError), warnings.catch_warnings():
        # Told when it is read for its documents.
        warnings.simplefilter("ignore", InputWarning)
        for _, row in read_rows(table, "utf-8", columns=lambda names: [name for name in names if name == "id"]):
            return not isinstance(row, dict) or bool(own_id(row.get("id")))
    return True
