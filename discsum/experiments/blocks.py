"""Blocks of parsed documents with references and oracle labels, from tables or from dataset folders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from discsum.batches import batches
from discsum.data.manifest import Manifest
from discsum.data.pairs import Pair
from discsum.data.preprocess_recipe import UNLABELLED
from discsum.data.storage import Location
from discsum.document import Document
from discsum.errors import InputError
from discsum.oracles import document_labels
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import ensure_parsed
from discsum.scoring import ParsedDocument
from discsum.selection import Policy
from discsum.signature import Signature

# Number of documents in a block.
BATCH = 8


@dataclass(frozen=True)
class Block:
    """Parsed documents with their references and oracle labels, `(units,)` for each document, or empty without any."""

    documents: Sequence[ParsedDocument]
    references: Sequence[tuple[str, ...]]
    labels: Sequence[NDArray[np.int8]]


def given_trees(pairs: Sequence[Pair]) -> dict[str, Any]:
    """Return the number of texts that came with their own tree, for a signature; empty if none did."""
    given = sum(pair.has_tree for pair in pairs)
    return {"given_trees": given} if given else {}


def parser_name(parser: Parser) -> str:
    """Return a parser's name and the start of its fingerprint, for a signature."""
    return f"{parser.name}@{parser.fingerprint[:8]}"


class TextBlocks:
    """Texts with references, parsed once for all models, with labels of the oracle `rouge12-f`."""

    def __init__(
        self, pairs: Sequence[Pair], parser: Callable[[], Parser], policy: Policy, *, parsed: bool = True
    ) -> None:
        """Take texts with references; the policy gives the unit of the labels and, if it limits units, their number.

        Unless `parsed`, documents have neither units nor labels.
        """
        self.pairs, self.parser, self.policy, self.parsed = pairs, parser, policy, parsed
        self.unit = policy.unit
        self._kept: Sequence[Block] | None = None

    @property
    def parser_name(self) -> str | None:
        """The parser of the texts; None if all came with their own tree."""
        return None if all(pair.has_tree for pair in self.pairs) else parser_name(self.parser())

    @property
    def signature(self) -> Signature:
        """The settings that scores depend on: parser, number of documents that came with their own tree, oracle."""
        trees = given_trees(self.pairs)
        if self.parser_name is not None:
            trees = {"parser": self.parser_name} | trees
        return Signature.of(**trees, oracle="rouge12-f", oracle_units=self.policy.budget.units or "own")

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.pairs)

    @property
    def ids(self) -> list[str]:
        """The names of the documents."""
        return [pair.id for pair in self.pairs]

    def keep(self, blocks: Sequence[Block]) -> None:
        """Keep the blocks that an iteration gave for all later ones, so that no text is parsed again."""
        self._kept = blocks

    def __iter__(self) -> Iterator[Block]:
        """Yield the documents in blocks; parse them unless they are kept."""
        yield from self._parse() if self._kept is None else self._kept

    def _parse(self) -> Iterator[Block]:
        unit, most = self.policy.unit, self.policy.budget.units
        for block in batches(self.pairs, BATCH):
            if not self.parsed:
                documents = [ParsedDocument(Document(pair.text, id=pair.id)) for pair in block]
                yield Block(documents, [pair.references for pair in block], [np.zeros(0, dtype=np.int8) for _ in block])
                continue
            documents = ensure_parsed(block, self.parser, keep=[unit])
            labels = [
                document_labels("rouge12-f", item.document, unit, pair.references, most)
                for item, pair in zip(documents, block, strict=True)
            ]
            yield Block(documents, [pair.references for pair in block], labels)


class DatasetBlocks:
    """The documents of a dataset folder, with its trees, labels and vectors.

    Attributes:
        parser_name: The parser of the texts; None if all came with their own tree.
        signature: The settings of the folder that scores depend on: parser, number of documents in the folder that came
            with their own tree, oracle.
    """

    def __init__(
        self, folder: Location, unit: str, first: int = 0, last: int | None = None, *, labelled: bool = True
    ) -> None:
        """Open the rows `first` to `last`, exclusive, of a folder; unless `labelled`, it needs no labels.

        Raises:
            InputError: No dataset folder, or one without labels of the unit although they are needed.
        """
        self.unit = unit
        self.manifest = Manifest.read(folder)
        # Late, because tables are measured without the extra that dataset folders need.
        from discsum.data.rows import open_rows

        self.rows = open_rows(folder, first, last)
        self.labelled = f"{unit}_labels" in self.rows.column_names
        if labelled and not self.labelled:
            raise InputError(
                f"{folder}: expected labels of the unit {unit}, found none; preprocess with --unit {unit} and an oracle"
            )
        recipe = self.manifest.recipe
        made_by = recipe["made_by"]
        # As `ExtractiveSummarizer.vectors_key`.
        self.vectors_key = (made_by["parser"], recipe["encoder"], made_by.get("encoder", ""), unit)
        given = {"given_trees": self.manifest.given_trees} if self.manifest.given_trees else {}
        self.parser_name: str | None = f"{recipe['parser']}@{made_by['parser'][:8]}"
        if self.manifest.given_trees == self.manifest.documents:
            self.parser_name = None
        parser = {} if self.parser_name is None else {"parser": self.parser_name}
        units = {} if recipe["oracle"] == UNLABELLED else {"oracle_units": recipe["oracle_units"] or "own"}
        self.signature = Signature.of(**parser, **given, oracle=recipe["oracle"], **units)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.rows)

    @property
    def ids(self) -> list[str]:
        """The names of the documents."""
        return [*self.rows.values("id")]

    def __iter__(self) -> Iterator[Block]:
        """Yield the documents in blocks."""
        for rows in batches(self.rows, BATCH):
            labels = [np.array(row[f"{self.unit}_labels"] if self.labelled else (), dtype=np.int8) for row in rows]
            yield Block([self._parsed(row) for row in rows], [tuple(row["references"]) for row in rows], labels)

    def _parsed(self, row: dict[str, Any]) -> ParsedDocument:
        """Return a document with its unit vectors, if the folder has them."""
        document = Document.from_json(row)
        if f"{self.unit}_vectors" not in row:
            return ParsedDocument(document)
        vectors = self.manifest.vectors(row, self.unit).astype(np.float32)
        return ParsedDocument(document, {self.vectors_key: torch.from_numpy(vectors)})
