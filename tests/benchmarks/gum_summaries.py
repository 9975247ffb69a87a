"""Make tables of GUM's documents with their human summaries.

    python tests/benchmarks/gum_summaries.py PATH/TO/gum gum_summaries

Writes `train.jsonl.gz` and `validation.jsonl.gz` (GUM's dev split): in `text` one sentence per line, in `references`
the summaries that people wrote. GUM names the writer before each: `meta::summary2 = (human2) ...`, or a model's name.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from pathlib import Path

from discsum.parsers.treebank import read_gum

SUMMARY = re.compile(r"^# meta::summary\d* = \(human\d*\) (.+)$", re.MULTILINE)
PARTS = {"train": "train", "validation": "dev"}


def main() -> None:
    """Write both tables."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("gum", type=Path)
    options.add_argument("folder", type=Path)
    given = options.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for part, split in PARTS.items():
        path, rows = given.folder / f"{part}.jsonl.gz", []
        for document in read_gum(given.gum, split):
            metadata = (given.gum / "dep" / f"{document.id}.conllu").read_text(encoding="utf-8")
            references = SUMMARY.findall(metadata)
            rows.append({"id": document.id, "text": "\n".join(document.sentence_texts), "references": references})
        with gzip.open(path, "wt", encoding="utf-8") as table:
            table.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        print(f"{path}: {len(rows)} documents, {sum(len(row['references']) for row in rows)} summaries")


if __name__ == "__main__":
    main()
