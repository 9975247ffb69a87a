"""Count the treebank files that can be read, and those that are unchanged after reading and writing.

    python tests/benchmarks/tree_files.py [--roots join|drop|error] FOLDER [FOLDER ...]

For each folder and format, a row counts all files; those read, and those of them with a warning; those refused, with
the reasons below the table; those that are the same when written again, directly and via JSON; and, if rst2dep is
installed, the rs3 and rs4 files in which it finds other heads than in the written file.

For rs3 and rs4, "the same" means the same EDUs, constituents, relations, unattached segments, secondary edges and
signals, ignoring ids and groups around a single child. For dis, it means the same brackets, ignoring the numbers of
spans, `<P>` and `//TT_ERR`. For rsd, it means the same EDUs, heads and relations.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Hashable
from pathlib import Path

from discsum.constants import ROOTS
from discsum.document import Document
from discsum.errors import DiscsumError
from discsum.formats import dump, load, read_trees
from discsum.formats._plain_text import fold
from discsum.formats._rs3_elements import Element, read_elements
from discsum.formats._rs3_reading import is_nucleus, none_is_shared

COLUMNS = ("files", "read", "warned", "refused", "same", "by JSON", "other heads")


def rs3_structure(content: bytes) -> Hashable:
    """Return the content of an rs3 or rs4 file without ids: EDUs, roots, secondary edges and signals."""
    found = read_elements(content, "")
    items = found.items
    edus = [item.id for item in items.values() if item.kind == "segment"]
    below: dict[str, list[Element]] = {id: [] for id in items}
    for item in items.values():
        if item.parent in items:
            below[item.parent].append(item)
    roots = [id for id, item in items.items() if item.parent not in items]
    order, stack = [], list(roots)
    while stack:
        order.append(stack.pop())
        stack += [child.id for child in below[order[-1]]]
    # Text form of each element, without its satellites (cores) and with them (wholes).
    cores = {id: f"edu {number}" for number, id in enumerate(edus)}
    wholes: dict[str, str] = {}
    for id in reversed(order):
        shared = Counter(child.relation for child in below[id])
        nuclei, satellites = [], []
        for child in below[id]:
            inside = is_nucleus(items[id], child, shared, found.types, none_is_shared(shared, found.types))
            # Skip groups without any segment.
            if wholes[child.id]:
                (nuclei if inside else satellites).append(f"{child.relation}: {wholes[child.id]}")
        if items[id].kind != "segment":
            single = nuclei[0].partition(": ")[2] if len(nuclei) == 1 else ""
            cores[id] = single or (f"({', '.join(sorted(nuclei))})" if nuclei else "")
        wholes[id] = f"[{cores[id]} < {', '.join(sorted(satellites))}]" if satellites else cores[id]

    def relation_of(id: str) -> str:
        return cores[id] if items[id].relation in ("", "span") else wholes[id]

    edges = {
        attributes.get("id", ""): (cores[attributes["source"]], cores[attributes["target"]], attributes["relname"])
        for _, attributes in found.secondary
    }
    signals = [
        (
            relation_of(attributes["source"]) if attributes["source"] in items else edges[attributes["source"]],
            [attributes.get(name, "") for name in ("type", "subtype", "tokens", "status")],
        )
        for _, attributes in found.signals
    ]
    texts = [fold(items[id].text) for id in edus]
    return repr((texts, sorted(wholes[id] for id in roots if wholes[id]), sorted(edges.values()), signals))


def dis_structure(content: bytes) -> Hashable:
    """Return the brackets of a dis file without the numbers of spans."""
    text = re.sub(r"\(\s*span[\s\d]+\)|<P>|//TT_ERR", " ", content.decode())
    return re.sub(r"\s*_!\s*", "_!", fold(text).replace("( ", "(").replace(" )", ")"))


def rsd_structure(content: bytes) -> Hashable:
    """Return the EDUs, heads and relations of an rsd file."""
    rows = [line.rstrip("\r").split("\t") for line in content.decode().split("\n")]
    return repr([(row[0], fold(row[1]), row[6], row[7]) for row in rows if len(row) == 10])


STRUCTURES: dict[str, Callable[[bytes], Hashable]] = {
    "rs3": rs3_structure,
    "rs4": rs3_structure,
    "dis": dis_structure,
    "rsd": rsd_structure,
}


def heads(content: str) -> list[str] | None:
    """Return rst2dep's head of every EDU; None if it is not installed or cannot read the file."""
    try:
        import rst2dep

        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            table = rst2dep.make_rsd(content, "", as_text=True)
    except Exception:  # whatever it raises
        return None
    return [line.split("\t")[6] for line in table.strip().split("\n")]


def again(documents: list[Document], name: str) -> bytes:
    """Return the documents as the content of a file."""
    return "".join(dump(document, name) for document in documents).encode()


def measure(path: Path, roots: str, counts: Counter[str], reasons: Counter[str]) -> None:
    """Read, rewrite and compare one file, and update the counts."""
    name, content = path.suffix[1:], path.read_bytes()
    counts["files"] += 1
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            documents = read_trees(path, roots=roots)
        except DiscsumError as error:
            counts["refused"] += 1
            reasons[re.sub(r"'[^']*'|\d+", "…", str(error).removeprefix(str(path)))[:150]] += 1
            return
    counts["read"] += 1
    counts["warned"] += bool(warned)
    by_json = [load(dump(document, "json"), "json") for document in documents]
    expected, written = STRUCTURES[name](content), again(documents, name)
    counts["same"] += STRUCTURES[name](written) == expected
    counts["by JSON"] += STRUCTURES[name](again(by_json, name)) == expected
    if name in ("rs3", "rs4") and not warned:
        found = heads(content.decode())
        counts["other heads"] += found is not None and found != heads(written.decode())


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--roots", choices=ROOTS, default="join")
    options.add_argument("folders", type=Path, nargs="+")
    arguments = options.parse_args()
    print(f"{'':40}" + "".join(f"{column:>12}" for column in COLUMNS))
    reasons: Counter[str] = Counter()
    for folder in arguments.folders:
        for name in STRUCTURES:
            counts: Counter[str] = Counter()
            for path in sorted(folder.rglob(f"*.{name}")):
                measure(path, arguments.roots, counts, reasons)
            if counts:
                print(f"{f'{folder.name} {name}':40}" + "".join(f"{counts[column]:12}" for column in COLUMNS))
    for reason, count in reasons.most_common():
        print(f"{count:6}  {reason}")


if __name__ == "__main__":
    main()
