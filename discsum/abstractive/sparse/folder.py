"""Sparse models in folders: the files of transformers, `selector.json` (settings), `selector.safetensors` (weights)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from discsum.abstractive.folder import plain_tokenizer
from discsum.abstractive.sparse.conversion import is_selectors
from discsum.constants import HUB
from discsum.errors import WeightsError
from discsum.files import replaced, replacing_folder, sha256
from discsum.hub import hub_files
from discsum.json_objects import read_fields
from discsum.persistence import WEIGHTS

SELECTOR, SELECTOR_WEIGHTS = "selector.json", "selector.safetensors"
FORMAT = 1


@dataclass(frozen=True)
class SelectorConfig:
    """Settings of a model's selector.

    Attributes:
        selector: Its name.
        r: Sentences selected at each step; none for all.
        beta: Initial weight of the discourse prior in training; none without the prior.
        share_beams: Whether the beams of a document read the same sentences.
        options: Options of this selector alone.
    """

    selector: str
    r: int | None = None
    beta: float | None = None
    share_beams: bool = True
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TrainedSelector:
    """A selector in the folder of its model."""

    folder: Path
    config: SelectorConfig

    @classmethod
    def of(cls, name_or_path: str) -> TrainedSelector | None:
        """Return the selector that a model was trained with, from its folder or the hub; none without one.

        Raises:
            WeightsError: A damaged file, or a selector of another model.
        """
        if name_or_path.startswith(HUB):
            path = hub_files(name_or_path, WEIGHTS, SELECTOR_WEIGHTS, SELECTOR)[-1]
        else:
            replaced(Path(name_or_path))
            path = Path(name_or_path) / SELECTOR
        return cls(path.parent, _config(path)) if path is not None and path.is_file() else None

    def load_into(self, model: Any) -> None:
        """Load the selector's weights into its model, which `sparsify` gave that selector.

        Raises:
            WeightsError: Weights of other names or sizes.
        """
        from safetensors.torch import load_file

        path = self.folder / SELECTOR_WEIGHTS
        tensors = load_file(path)
        wanted = {(name, value.shape) for name, value in model.state_dict().items() if is_selectors(name)}
        others = wanted ^ {(name, value.shape) for name, value in tensors.items()}
        if others:
            raise WeightsError(
                f"{path}: expected the weights of this model's selector, got others by name or size: "
                f"{', '.join(sorted({name for name, _ in others}))}"
            )
        model.load_state_dict(tensors, strict=False)


@dataclass(frozen=True)
class _Written(SelectorConfig):
    """Content of `selector.json`: the settings, and SHA-256 sums of both weights files."""

    format: int = 0
    model: str = ""
    sha256: str = ""


def _config(path: Path) -> SelectorConfig:
    written = read_fields(_Written, path, WeightsError)
    if written.format != FORMAT:
        raise WeightsError(f"{path}: expected format {FORMAT}, got {written.format}; train the model again")
    for name, wanted in ((WEIGHTS, written.model), (SELECTOR_WEIGHTS, written.sha256)):
        file = path.parent / name
        found = sha256(file) if file.is_file() else "no such file"
        if found != wanted:
            owner = "the model that the selector was trained with" if name == WEIGHTS else "the selector's weights"
            raise WeightsError(f"{file}: expected {owner}, sha256 {wanted}, got {found}")
    return SelectorConfig(**{item.name: getattr(written, item.name) for item in fields(SelectorConfig)})


def write_sparse(folder: Path, model: Any, tokenizer: Any, selector: SelectorConfig) -> None:
    """Write a sparse model with its tokenizer and selector, all of it or nothing."""
    from safetensors.torch import save

    state = {name: value.detach() for name, value in model.state_dict().items()}
    with replacing_folder(folder) as new:
        # Without the selector's weights. Not copied: tied weights are written once.
        model.save_pretrained(new, state_dict={name: one for name, one in state.items() if not is_selectors(name)})
        plain_tokenizer(tokenizer).save_pretrained(new)
        own = {name: value.cpu().contiguous() for name, value in state.items() if is_selectors(name)}
        (new / SELECTOR_WEIGHTS).write_bytes(save(own))
        sums = {"model": sha256(new / WEIGHTS), "sha256": sha256(new / SELECTOR_WEIGHTS)}
        content = json.dumps({"format": FORMAT, **asdict(selector), **sums}, indent=1)
        (new / SELECTOR).write_text(content + "\n", encoding="utf-8")
