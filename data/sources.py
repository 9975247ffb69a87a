"""Texts with summaries from a table or a Hugging Face dataset."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discsum.constants import HUB
from discsum.data.pairs import Pair
from discsum.data.summaries import pairs_of
from discsum.data.tables import Failure, count_rows, read_rows
from discsum.errors import InputError
from discsum.extras import needs
from discsum.files import sha256

# Files that `save_to_disk` writes for a dataset and for a folder of splits.
INFO, SPLITS = "dataset_info.json", "dataset_dict.json"


@dataclass(frozen=True)
class PairSource:
    """A table or a Hugging Face dataset of texts with summaries.

    Attributes:
        name: Path of a table; folder of a saved dataset; or `hf:NAME[:CONFIG[:SPLIT]]` for a dataset on the hub, by
            default its split `train`.
        text_column: Column of the text; by default `article` or `text`.
        summary_column: Column of the summary; by default `references`, `highlights` or `summary`.
    """

    name: str
    text_column: str | None = None
    summary_column: str | None = None

    @property
    def is_dataset(self) -> bool:
        """Whether the source is a dataset of the library `datasets`."""
        return self.name.startswith(HUB) or (Path(self.name) / INFO).is_file()

    def identity(self) -> dict[str, Any]:
        """Return the identity of the documents: name, checksum or fingerprint, and columns.

        Raises:
            InputError: Neither a table nor a dataset; for a folder of splits the message lists them.
        """
        columns = {"text_column": self.text_column, "summary_column": self.summary_column}
        if self.is_dataset:
            return {"name": self.name, "fingerprint": self._dataset()._fingerprint} | columns
        path = Path(self.name)
        if (path / SPLITS).is_file():
            splits = sorted(info.parent.name for info in path.glob(f"*/{INFO}"))
            example = path / ("train" if "train" in splits else "".join(splits[:1]))
            raise InputError(
                f"{path}: expected a dataset, got a folder of the splits {', '.join(splits) or 'none'}; "
                f"name the folder of one, as {example}"
            )
        if not path.is_file():
            raise InputError(f"{path}: expected a table, a dataset's folder or hf:NAME, found no such file")
        return {"name": path.name, "sha256": sha256(path)} | columns

    def count(self) -> int | None:
        """Return the number of rows, if known without reading them."""
        return len(self._dataset()) if self.is_dataset else count_rows(Path(self.name))

    def pairs(self) -> Iterator[Pair | Failure]:
        """Yield the pairs, as `pairs_of` does."""
        if self.is_dataset:
            rows: Any = ((f"{self.name}:{number}", dict(row)) for number, row in enumerate(self._dataset(), start=1))
        else:
            rows = read_rows(Path(self.name), "utf-8")
        return pairs_of(rows, Path(self.name).stem, self.text_column, self.summary_column)

    def _dataset(self) -> Any:
        with needs("datasets"):
            from datasets import load_dataset, load_from_disk
        if not self.name.startswith(HUB):
            return load_from_disk(self.name)
        name, _, rest = self.name.removeprefix(HUB).partition(":")
        config, _, split = rest.partition(":")
        try:
            return load_dataset(name, config or None, split=split or "train")
        except (ValueError, FileNotFoundError) as error:
            raise InputError(f"{self.name}: expected hf:NAME[:CONFIG[:SPLIT]] of a dataset, got {error}") from error
