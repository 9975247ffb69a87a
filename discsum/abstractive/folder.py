"""Sparse models as folders: the Hugging Face model as it was, and its selector in two files beside it.

The model's own files are those that `transformers` writes and reads; `selector.json` names the selector and how the
model was trained to read, `selector.safetensors` holds its weights.
"""

from __future__ import annotations

import copy
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from discsum.abstractive.sparse.conversion import is_selectors
from discsum.constants import HUB
from discsum.errors import WeightsError
from discsum.files import replaced, replacing_folder, sha256
from discsum.persistence import CONFIG, WEIGHTS

SELECTOR, SELECTOR_WEIGHTS = "selector.json", "selector.safetensors"
FORMAT = 1
# What loading and calls leave in a tokenizer, which is no part of it.
LEFT = ("local_files_only", "is_local", "max_length", "stride", "truncation_strategy", "truncation_side", "pad_to")


@dataclass(frozen=True)
class SelectorConfig:
    """A model's selector.

    Attributes:
        selector: Its name.
        r: Sentences that the model was trained to read; none for all.
        beta: Whether the discourse prior is part of it: its weight at the beginning of training.
        share_beams: Whether the beams of a document read the same sentences.
        options: The selector's own.
    """

    selector: str
    r: int | None = None
    beta: float | None = None
    share_beams: bool = True
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainedSelector:
    """A selector in a folder, with its model."""

    folder: Path
    config: SelectorConfig


def write_sparse(folder: Path, model: Any, tokenizer: Any, selector: SelectorConfig) -> None:
    """Write a sparse model with its tokenizer and selector, all of it or nothing."""
    from safetensors.torch import save

    state = {name: value.detach() for name, value in model.state_dict().items()}
    with replacing_folder(folder) as new:
        # As it would be without `sparsify`. Not copied: tied weights are written once.
        model.save_pretrained(new, state_dict={name: one for name, one in state.items() if not is_selectors(name)})
        _plain(tokenizer).save_pretrained(new)
        own = {name: value.cpu().contiguous() for name, value in state.items() if is_selectors(name)}
        (new / SELECTOR_WEIGHTS).write_bytes(save(own))
        sums = {"model": sha256(new / WEIGHTS), "sha256": sha256(new / SELECTOR_WEIGHTS)}
        content = json.dumps({"format": FORMAT, **asdict(selector), **sums}, indent=1)
        (new / SELECTOR).write_text(content + "\n", encoding="utf-8")


def _plain(tokenizer: Any) -> Any:
    """Return a copy of a tokenizer without what its last call and its loading left in it."""
    plain = copy.deepcopy(tokenizer)
    if getattr(plain, "backend_tokenizer", None) is not None:
        plain.backend_tokenizer.no_truncation()
        plain.backend_tokenizer.no_padding()
    for name in LEFT:
        plain.init_kwargs.pop(name, None)
    return plain


def trained_selector(name_or_path: str) -> TrainedSelector | None:
    """Return the selector that a model was trained with, from its folder or the hub; none where there is none.

    Raises:
        WeightsError: A damaged file, or a selector of another model.
    """
    if name_or_path.startswith(HUB):
        from transformers.utils.hub import cached_file

        # Files of one commit, which lie in one folder.
        try:
            found = [
                cached_file(name_or_path.removeprefix(HUB), file, _raise_exceptions_for_missing_entries=False)
                for file in (WEIGHTS, SELECTOR_WEIGHTS, SELECTOR)
            ]
        except OSError:
            # No such model, or no network: loading the model itself says so.
            return None
        if found[-1] is None:
            return None
        folder = Path(found[-1]).parent
    else:
        folder = Path(name_or_path)
        replaced(folder)
    path = folder / SELECTOR
    return TrainedSelector(folder, _config(path)) if path.is_file() else None


def is_sequence_to_sequence(name_or_path: str) -> bool:
    """Return whether a folder, or `hf:NAME` on the hub, holds a sequence-to-sequence model of transformers."""
    path = Path(name_or_path) / CONFIG
    if name_or_path.startswith(HUB):
        from transformers.utils.hub import cached_file

        try:
            path = Path(cached_file(name_or_path.removeprefix(HUB), CONFIG) or "")
        except OSError:
            # No such model, or no network: loading the model itself says so.
            return False
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("is_encoder_decoder") is True


def _config(path: Path) -> SelectorConfig:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise WeightsError(f"{path}: expected format {FORMAT}, got another; train the model again")
        sums = {WEIGHTS: content.pop("model"), SELECTOR_WEIGHTS: content.pop("sha256")}
        config = SelectorConfig(**content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path}: expected the description of a selector, got {error}") from error
    for name, wanted in sums.items():
        file = path.parent / name
        found = sha256(file) if file.is_file() else "no such file"
        if found != wanted:
            whose = "the model that the selector was trained with" if name == WEIGHTS else "the selector's weights"
            raise WeightsError(f"{file}: expected {whose}, sha256 {wanted}, got {found}")
    return config


def load_selector(folder: Path, model: Any) -> None:
    """Put a folder's selector weights into its model, which is sparse with that selector.

    Raises:
        WeightsError: Weights of other names or sizes.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = folder / SELECTOR_WEIGHTS
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"{path}: expected a selector's weights, got {error}") from error
    wanted = {name for name in model.state_dict() if is_selectors(name)}
    if wanted != set(tensors):
        raise WeightsError(
            f"{path}: expected the weights {', '.join(sorted(wanted)) or 'of no selector'}, "
            f"got {', '.join(sorted(tensors)) or 'none'}"
        )
    try:
        model.load_state_dict(tensors, strict=False)
    except RuntimeError as error:
        raise WeightsError(f"{path}: expected the weights of a selector of this model's size, got {error}") from error
