"""Sparse models as folders: the Hugging Face model as it was, and its selector in two files beside it.

The model's own files are those that `transformers` writes and reads; `selector.json` names the selector and how the
model was trained to read, `selector.safetensors` holds its weights.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from discsum.abstractive.sparsify import is_selectors
from discsum.errors import WeightsError
from discsum.files import replacing, sha256
from discsum.persistence import WEIGHTS

SELECTOR, SELECTOR_WEIGHTS = "selector.json", "selector.safetensors"
FORMAT = 1


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


def write_sparse(folder: Path, model: Any, tokenizer: Any, selector: SelectorConfig) -> None:
    """Write a sparse model; `selector.json`, which names the checksums of both weight files, comes last."""
    from safetensors.torch import save

    folder.mkdir(parents=True, exist_ok=True)
    state = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    base = {name: value for name, value in state.items() if not is_selectors(name)}
    with tempfile.TemporaryDirectory(prefix=".saving-", dir=folder) as place:
        # A name of the model's in the transformers library, without what `sparsify` added.
        model.save_pretrained(place, state_dict=base)
        tokenizer.save_pretrained(place)
        for path in sorted(Path(place).iterdir()):
            with replacing(folder / path.name) as partial:
                shutil.move(path, partial)
    own = {name: value for name, value in state.items() if is_selectors(name)}
    with replacing(folder / SELECTOR_WEIGHTS) as path:
        path.write_bytes(save(own))
    sums = {"model": sha256(folder / WEIGHTS), "sha256": sha256(folder / SELECTOR_WEIGHTS)}
    with replacing(folder / SELECTOR) as path:
        path.write_text(json.dumps({"format": FORMAT, **asdict(selector), **sums}, indent=1) + "\n", encoding="utf-8")


def read_selector(folder: Path) -> SelectorConfig | None:
    """Return what a folder says of its model's selector; none where it says nothing.

    Raises:
        WeightsError: A damaged file, or a selector of another model.
    """
    path = folder / SELECTOR
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise WeightsError(f"{path}: expected format {FORMAT}, got another; train the model again")
        sums = {WEIGHTS: content.pop("model"), SELECTOR_WEIGHTS: content.pop("sha256")}
        config = SelectorConfig(**content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"{path}: expected the description of a selector, got {error}") from error
    for name, wanted in sums.items():
        found = sha256(folder / name) if (folder / name).is_file() else "no such file"
        if found != wanted:
            whose = "the model that the selector was trained with" if name == WEIGHTS else "the selector's weights"
            raise WeightsError(f"{folder / name}: expected {whose}, sha256 {wanted}, got {found}")
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
