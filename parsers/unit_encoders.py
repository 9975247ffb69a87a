"""Vectors of a document's units, by the parser's encoder or by any Hugging Face encoder."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from discsum.constants import DISCOURSE, ISOLATED, UNITS, VECTORS
from discsum.document import Document
from discsum.errors import InputError, warn_caller
from discsum.inference import inference
from discsum.parsers.encoder import WindowEncoder, longest_window
from discsum.parsers.parser import Parser
from discsum.parsers.parsing import encoding
from discsum.parsers.pretrained import pretrained_encoder
from discsum.parsers.reading import STATES, Reading, collect_vectors, read
from discsum.parsers.subwords import Subwords, split_subwords
from discsum.scoring import ParsedDocument

# Subwords per window of a Hugging Face encoder, by default; fewer if it has fewer positions.
LONGEST = 512


class UnitEncoder:
    """Gives each unit one vector of size `width`; frozen except for the layers in `trained`, see `thaw`."""

    def __init__(
        self,
        windows: WindowEncoder,
        tokenizer: Any,
        kind: str = ISOLATED,
        parser: Parser | None = None,
        revision: str = "",
    ) -> None:
        """Wrap an encoder.

        Args:
            windows: The encoder.
            tokenizer: Its tokenizer.
            kind: Which vectors, one of `VECTORS`.
            parser: The parser whose encoder this is, if any.
            revision: Commit of the Hugging Face encoder.
        """
        self.windows, self.tokenizer = windows, tokenizer
        self.kind, self.parser, self.revision = kind, parser, revision
        # Whether the encoder is still the parser's, so that the parser's encoding of a text can be used.
        self.own = parser is not None
        self.width = windows.width + (parser.network.config.hidden if parser and kind == DISCOURSE else 0)
        self.trained = nn.ModuleList()

    @classmethod
    def load(
        cls,
        name: str,
        parser: Parser,
        layers: int = 0,
        revision: str = "",
        *,
        dropout: bool = False,
        window: int | None = None,
    ) -> UnitEncoder:
        """Return the encoder of that name.

        Args:
            name: `contextual`, `discourse` or `isolated`, by the parser's encoder, or the name or folder of a Hugging
                Face encoder, which encodes each unit in isolation, as `[CLS] unit [SEP]` (Xiao et al. 2020, section 3).
            parser: The parser whose encoder the first three use.
            layers: Number of last layers to train.
            revision: Commit of an encoder on the hub, by default the newest.
            dropout: Whether a Hugging Face encoder keeps its dropout in training.
            window: Subwords per window. A parser's encoder takes it only if layers are trained; its default is the
                parser's window. The default of a Hugging Face encoder is up to `LONGEST`.

        Raises:
            InputError: An encoder with fewer layers or positions than required.
            WeightsError: No such encoder.
        """
        if name in VECTORS:
            encoder = cls(parser.network.encoder, parser.tokenizer, name, parser)
        else:
            pretrained = pretrained_encoder(name, revision, dropout=dropout)
            own = min(LONGEST, longest_window(pretrained.encoder) or LONGEST)
            windows = WindowEncoder(pretrained.encoder, pretrained.special, window=own).to(parser.network.device)
            encoder = cls(windows, pretrained.tokenizer, revision=pretrained.revision)
        encoder.windows.eval().requires_grad_(False)
        # The parser's EDU states are part of discourse vectors and are frozen too.
        parser.network.edus.requires_grad_(False)
        if layers:
            encoder.thaw(layers)
        if window is not None:
            encoder.widen(window)
        return encoder

    def widen(self, window: int) -> None:
        """Set the size of windows.

        Raises:
            InputError: More subwords than the encoder has positions, fewer than the overlap of windows requires, or the
                parser's own encoder.
        """
        longest, smallest = longest_window(self.windows.encoder), self._smallest_window()
        expected = ""
        if self.own:
            expected = "no window without trained layers (encoder_layers)"
        elif longest is not None and window > longest:
            expected = f"at most {longest} subwords"
        elif window < smallest:
            expected = f"at least {smallest} subwords"
        if expected:
            raise InputError(f"encoder_window: expected {expected}, got {window}")
        self.windows.window = window

    def _smallest_window(self) -> int:
        # Each window has two special subwords. An isolated unit is one window; other windows overlap by less than half.
        return 3 if self.kind == ISOLATED else 2 * self.windows.overlap + 4

    def thaw(self, layers: int) -> None:
        """Make the last layers trainable; those of a parser's encoder are copied first, the other weights are shared.

        Raises:
            InputError: More layers than the encoder has.
        """
        stack = _layers(self.windows)
        if layers > len(stack):
            raise InputError(
                f"encoder_layers: expected at most {len(stack)}, the encoder's number of layers, got {layers}"
            )
        if self.own:
            copied = {id(weight) for layer in stack[len(stack) - layers :] for weight in layer.parameters()}
            # `deepcopy` shares what is in its memo, such as word embeddings, which are most of a small encoder.
            shared = {id(weight): weight for weight in self.windows.parameters() if id(weight) not in copied}
            self.windows, self.own = copy.deepcopy(self.windows, shared), False
            stack = _layers(self.windows)
        self.trained = nn.ModuleList(stack[len(stack) - layers :])
        self.trained.requires_grad_(True)

    @property
    def pools(self) -> bool:
        """Whether its vectors are pooled from the parser's encoding of the whole text."""
        return self.kind != ISOLATED and self.own

    @cached_property
    def fingerprint(self) -> str:
        """Digest of a Hugging Face encoder's weights and tokenizer; empty for a parser's, as the parser has one."""
        if self.parser is not None:
            return ""
        found = hashlib.sha256(self.tokenizer.to_str().encode())
        for name, tensor in sorted(self.windows.state_dict().items()):
            found.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
        return found.hexdigest()

    def train(self, mode: bool = True) -> None:
        """Switch dropout on or off."""
        self.windows.train(mode)

    def vectors(
        self, documents: Sequence[Document], unit: str, counts: Sequence[int | None] | None = None
    ) -> list[Tensor]:
        """Encode documents without using cached vectors; return `(units, width)` for each.

        Gradients reach the trained layers.

        Args:
            documents: Documents with units.
            unit: `sentence` or `edu`.
            counts: Number of first units to encode of each document, or None for all. The text after them is not read,
                except for discourse vectors, whose EDU states need the whole text.
        """
        wanted = counts or [None] * len(documents)
        rows = [document.units(unit)[:count] for document, count in zip(documents, wanted, strict=True)]
        if self.kind == ISOLATED:
            texts = [
                [document.text[span.start : span.end] for span in row]
                for document, row in zip(documents, rows, strict=True)
            ]
            words = [[self._split(text) for text in own] for own in texts]
            for document, own in zip(documents, words, strict=True):
                self._warn_of_cuts(document, [len(some) for some in own])
            states = self.windows.first_tokens([some for own in words for some in own])
            ends = np.cumsum([len(row) for row in rows])
            return [states[end - len(row) : end] for row, end in zip(rows, ends, strict=True)]
        assert self.parser is not None, "only isolated units are encoded without a parser"
        network, keep, readings = self.parser.network, self.needs(unit), []
        for document, row in zip(documents, rows, strict=True):
            text, known = document.text, {name: document.units(name) for name in UNITS}
            if self.kind != DISCOURSE:
                text, known = text[: row[-1].end if row else None], dict.fromkeys(UNITS, ()) | {unit: row}
            readings.append(Reading(network, text, self._split(text), known["sentence"], known["edu"], keep))
        # The gradient of trained layers passes the parser's frozen LSTM, which cuDNN only supports in training mode.
        through = self.kind == DISCOURSE and bool(self.trained) and torch.is_grad_enabled()
        with torch.backends.cudnn.flags(enabled=False) if through else nullcontext():
            read(network, self.windows, readings)
            collected = collect_vectors(network, readings, keep)
        every = zip(documents, rows, collected, strict=True)
        return [self._combined(document, unit, vectors)[: len(row)] for document, row, vectors in every]

    def needs(self, unit: str) -> set[str]:
        """Return the names of the vectors to keep of a text for its units; see `Reading`."""
        return {unit, *([STATES] if self.kind == DISCOURSE else [])}

    @property
    def device(self) -> torch.device:
        """The device that it computes on."""
        return self.windows.device

    @inference
    def of(self, item: ParsedDocument, unit: str) -> Tensor:
        """Return `(units, width)` for a parsed document, from the parser's encoding if `pools`."""
        if self.parser is None or not self.pools:
            return self.vectors([item.document], unit)[0]
        return self._combined(item.document, unit, encoding(item, self.parser, self.needs(unit)).vectors)

    def _combined(self, document: Document, unit: str, vectors: Mapping[str, Tensor]) -> Tensor:
        """Return the vectors of units: their means and, if they are discourse vectors, the parser's EDU states."""
        pooled = vectors[unit]
        if self.kind != DISCOURSE or not document.edus:
            return pooled
        states = vectors[STATES]
        if unit == "sentence":
            # The mean over the EDUs that begin in a sentence; zeros if none does.
            owner = torch.tensor(document.edu_to_sentence).to(states.device)
            sums = states.new_zeros(len(document.sentences), states.shape[1]).index_add(0, owner, states)
            states = sums / torch.bincount(owner, minlength=len(sums)).clamp_min(1)[:, None]
        return torch.cat([pooled, states], dim=-1)

    def _warn_of_cuts(self, document: Document, sizes: Sequence[int]) -> None:
        most = self.windows.window - 2
        if cut := sum(size > most for size in sizes):
            message = (
                f"{cut} of {len(sizes)} units have more than {most} subwords, of which only the first {most} are read"
            )
            warn_caller(f"{document.label}: {message}")

    def _split(self, text: str) -> Subwords:
        return split_subwords(text, self.tokenizer)


def _layers(windows: WindowEncoder) -> list[nn.Module]:
    """Return the encoder's layers: its longest `ModuleList`, as in transformers' encoders."""
    stacks = [list(module) for module in windows.modules() if isinstance(module, nn.ModuleList)]
    return max(stacks, key=len, default=[])


def identity(name: str) -> dict[str, str]:
    """Return the identity of a Hugging Face encoder: commit and digest."""
    pretrained = pretrained_encoder(name)
    encoder = UnitEncoder(WindowEncoder(pretrained.encoder, pretrained.special), pretrained.tokenizer)
    return {"encoder": encoder.fingerprint, "revision": pretrained.revision}
