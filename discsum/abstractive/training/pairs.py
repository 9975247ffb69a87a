"""Training examples of abstractive summarizers: texts with summaries."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discsum.abstractive.families import family_class
from discsum.abstractive.folder import load_tokenizer
from discsum.abstractive.recipe import AbstractiveRecipe
from discsum.batches import batches
from discsum.constants import PARSER_KIND
from discsum.data.examples import Collection
from discsum.data.manifest import Manifest
from discsum.data.prepared import MEMORY, Report, read_sources
from discsum.data.preprocess_recipe import UNLABELLED, PreprocessRecipe
from discsum.data.rows import MEMORY as ROWS_MEMORY
from discsum.data.rows import open_rows
from discsum.data.storage import Location
from discsum.document import Document
from discsum.errors import InputError, WeightsError
from discsum.files import sha256_of_text
from discsum.persistence import fingerprint
from discsum.recipes.sources import Source

# Texts tokenized together.
BATCH = 256


@dataclass(frozen=True)
class PairExample:
    """A document with sentences, with a tree if requested, and its reference summaries."""

    document: Document
    references: tuple[str, ...]


class PairExamples:
    """The documents of a dataset folder with their references, read from disk on access.

    Attributes:
        lengths: `(examples,)` tokens of text and first reference, each up to its limit; batches group similar lengths.
        blocks: `(examples,)` number of the block of files of each; see `DatasetRows.blocks`.
        digest: Hash of their content.
    """

    def __init__(
        self, folder: Location, needs: PairData, first: int = 0, last: int | None = None, memory: int = MEMORY
    ) -> None:
        """Open the rows `first` to `last`, exclusive, of a folder of `discsum preprocess`.

        Decoded shards take at most `memory` bytes.
        """
        self.rows = open_rows(folder, first, last, memory=min(memory, ROWS_MEMORY))
        firsts = (references[0] for references in self.rows.values("references"))
        self.lengths = needs.count(self.rows.values("text")).clip(max=needs.source_tokens)
        self.lengths += needs.count(firsts).clip(max=needs.target_tokens)
        self.blocks = self.rows.blocks
        manifest = Manifest.read(folder)
        files, chosen = [shard.sha256 for shard in manifest.shards], range(manifest.documents)[first:last]
        content = repr([files, chosen, self.lengths.tolist()])
        self.digest = hashlib.sha256(content.encode()).hexdigest()[:16]

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.rows)

    def __getitem__(self, index: int, /) -> PairExample:
        """Return one document with its references."""
        row: dict[str, Any] = self.rows[index]
        return PairExample(Document.from_json(row), tuple(row["references"]))

    def texts(self) -> list[str]:
        """Return a digest of each document's text."""
        return [sha256_of_text(text) for text in self.rows.values("text")]


@dataclass(frozen=True, eq=False)
class PairData:
    """The data that a training run reads: documents, with trees if `tree`, up to limits in tokens.

    Without a tokenizer, because that of a new model is not trained yet, lengths are counted in words.
    """

    parser: str
    tree: bool = False
    tokenizer: Any = None
    source_tokens: int = 1024
    target_tokens: int = 200

    @classmethod
    def of(cls, recipe: AbstractiveRecipe) -> PairData:
        """Return the data that the run of a recipe reads.

        Raises:
            WeightsError: The recipe's model does not exist.
        """
        try:
            tokenizer = load_tokenizer(recipe.model) if recipe.model is not None else None
        except WeightsError as error:
            advice = "the run starts from this model: train it first, or name another one with model=..."
            raise WeightsError(f"model: {error}; {advice}") from error
        tree = family_class(recipe.family).needs_tree(recipe)
        return cls(recipe.parser, tree, tokenizer, recipe.source_tokens, recipe.target_tokens)

    @property
    def made_by(self) -> PreprocessRecipe:
        """Preprocessing recipe of the dataset folders that the run needs."""
        return PreprocessRecipe(self.parser, UNLABELLED, tree=self.tree)

    def examples(self, folder: Location, memory: int = MEMORY, first: int = 0, last: int | None = None) -> PairExamples:
        """Return a dataset folder's examples, which are read from decoded shards of at most `memory` bytes."""
        return PairExamples(folder, self, first, last, memory)

    def check(self, folder: Location, recipe: Mapping[str, Any]) -> None:
        """Raise `InputError` for a dataset folder of another parser, or without the trees that the run needs."""
        wanted, found = fingerprint(self.parser, PARSER_KIND), recipe["made_by"]["parser"]
        if found != wanted:
            raise InputError(
                f"{folder}: expected a dataset folder made with the parser {self.parser} ({wanted[:8]}), got one with "
                f"{recipe['parser']} ({found[:8]}); add parser={recipe['parser']}, or preprocess as the recipe says"
            )
        if self.tree and not recipe.get("tree", True):
            raise InputError(f"{folder}: expected documents with trees for this recipe, got none; preprocess again")

    def count(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """Return `(texts,)`: the number of tokens of each text, including special tokens."""
        if self.tokenizer is None:
            return np.array([len(text.split()) for text in texts], dtype=np.int64)
        counts = [len(ids) for batch in batches(texts, BATCH) for ids in self.tokenizer(batch)["input_ids"]]
        return np.array(counts, dtype=np.int64)


def pair_collection(
    sources: Sequence[Source], data: Path, needs: PairData, cache: Path, report: Report
) -> Collection[PairExample]:
    """Return the examples of a recipe's sources; arguments and errors as in `read_sources`."""
    return Collection(read_sources(sources, data, needs, cache, report))
