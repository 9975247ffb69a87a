"""Model folders: `config.json`, `model.safetensors` (float16), `README.md`, and other files of the model."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discsum.constants import HUB, PARSER_KIND, SUMMARIZER_KIND
from discsum.errors import WeightsError
from discsum.files import replacing, sha256
from discsum.hub import downloaded
from discsum.json_objects import read_object
from discsum.registry import suggestion

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = 1
CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"
# In a parser's folder, the splits that it was trained with.
SPLITS_FILE = "treebank.json"
# What a model of another kind is for.
_USES = {
    PARSER_KIND: "a parser, which parse, extract and preprocess take as --parser (Python: parser=)",
    SUMMARIZER_KIND: "a summarizer, which extract takes as --model (Python: model=)",
}
# Advice for a name that is not found on this machine.
OF_HUB = f"a model on the hub is named {HUB}NAME"
# The model folder in the folder of a training run.
BEST = "best"


@dataclass(frozen=True)
class ModelFolder:
    """The path, configuration and float32 weights of a model folder."""

    path: Path
    config: dict[str, Any]
    tensors: dict[str, Tensor]


def shipped(kind: str | None = None) -> list[str]:
    """Return the names of the models that come with the package, all of them or those of a kind."""
    paths = sorted(Path(str(files("discsum"))).glob(f"weights/*/{CONFIG}"))
    return [path.parent.name for path in paths if kind is None or read_object(path, WeightsError).get("kind") == kind]


def locate(name_or_path: str | Path, kind: str, **hub: Any) -> Path:
    """Return the folder of a model: its own path, or that of a shipped or downloaded model.

    Args:
        name_or_path: Name of a shipped model, a folder, or `hf:NAME` on the hub.
        kind: The kind of model; errors list the shipped ones, and a model on the hub must be of it.
        hub: Options of `huggingface_hub.snapshot_download` for models on the hub, such as `revision`.

    Raises:
        TypeError: Neither a name nor a path, or options of the hub for a model that is not there.
        WeightsError: No such model, or another kind of model on the hub.
    """
    if not isinstance(name_or_path, (str, Path)):
        raise TypeError(f"expected a model's name or folder, got {name_or_path!r}")
    if str(name_or_path).startswith(HUB):
        given = str(name_or_path)
        # A command may name a model several times. The answer is kept no longer, so that new versions are found.
        return _of_hub(given, kind, hub) if hub else _known(given, kind, int(time.monotonic() // 60))
    if hub:
        raise TypeError(f"from_pretrained: expected {', '.join(hub)} only with hf:NAME, got {name_or_path}")
    for folder in (Path(name_or_path), Path(str(files("discsum") / "weights" / str(name_or_path)))):
        if (folder / CONFIG).is_file():
            return folder
    inside = Path(name_or_path) / BEST
    near = f" (did you mean {inside}?)" if (inside / CONFIG).is_file() else suggestion(name_or_path, shipped(kind))
    raise WeightsError(
        f"{name_or_path}: expected a folder with {CONFIG} and {WEIGHTS}, or a shipped model "
        f"({', '.join(shipped(kind)) or 'none installed'}){near}; found "
        + (f"a folder without {CONFIG}" if Path(name_or_path).is_dir() else f"neither; {OF_HUB}")
    )


@lru_cache(maxsize=64)
def _known(name: str, kind: str, minute: int) -> Path:
    """Return what `_of_hub` returns without options; the hub is asked again in each `minute`."""
    return _of_hub(name, kind, {})


def _of_hub(name: str, kind: str, options: Mapping[str, Any]) -> Path:
    """Return the folder of a model on the hub, downloaded if its configuration is of the kind.

    Raises:
        WeightsError: The hub has no such model, or it is of another kind.
    """
    # Models of other libraries may be large, with weights in several formats.
    first = downloaded(name, **{**options, "allow_patterns": CONFIG}) / CONFIG
    if not first.is_file():
        raise WeightsError(f"{name}: expected a model of discsum with {CONFIG}, found no such file; check the name")
    _check_kind(read_object(first, WeightsError), name, kind)
    return downloaded(name, **options)


def fingerprint(name_or_path: str | Path, kind: str) -> str:
    """Return the SHA-256 of a model's configuration, which has the checksums of its files; no weights are read.

    Raises:
        WeightsError: As in `read_config`.
    """
    read_config(name_or_path, kind)
    return sha256(locate(name_or_path, kind) / CONFIG)


def write_model(folder: Path, kind: str, config: Mapping[str, Any], tensors: Mapping[str, Tensor], card: str) -> None:
    """Write a model to `folder`, its weights as float16; the configuration, which has their checksum, comes last.

    Raises:
        WeightsError: A weight is not finite, or too large for float16.
    """
    from safetensors.torch import save

    halves = {key: _half(value.detach().cpu()).contiguous() for key, value in tensors.items()}
    check_finite(halves.items(), f"{folder}: float16, which holds at most 65,504")
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / WEIGHTS) as path:
        # Not `save_file`: only their owner can read its files, and it leaves temporary files if it is killed.
        path.write_bytes(save(halves))
    with replacing(folder / CARD) as path:
        path.write_text(card, encoding="utf-8")
    content = {"format": FORMAT, "kind": kind, **config, "sha256": sha256(folder / WEIGHTS)}
    with replacing(folder / CONFIG) as path:
        path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _half(value: Tensor) -> Tensor:
    """Return weights as float16, but integers as they are: float16 has only those up to 2,048."""
    return value.half() if value.is_floating_point() else value


def read_config(name_or_path: str | Path, kind: str) -> dict[str, Any]:
    """Return a model folder's configuration, without reading weights.

    Raises:
        WeightsError: A folder that is missing, or of another kind of model.
    """
    path = locate(name_or_path, kind) / CONFIG
    config = read_object(path, WeightsError)
    _check_kind(config, str(path), kind)
    return config


def _check_kind(config: Mapping[str, Any], source: str, kind: str) -> None:
    """Raise `WeightsError` unless a configuration is of a kind of model."""
    found = config.get("kind")
    if found == kind and config.get("format") == FORMAT:
        return
    got = f"{found} of format {config.get('format')}"
    if "kind" not in config:
        got = "a model of no such kind, perhaps a sequence-to-sequence model, which discsum abstract takes"
    elif found == kind:
        got += ", made by another version of discsum; train it again"
    elif use := _USES.get(str(found)):
        got += f", {use}"
    there = f"; shipped are {', '.join(names)}" if (names := shipped(kind)) else ""
    raise WeightsError(f"{source}: expected a {kind} of format {FORMAT}, got {got}{there}")


def read_card(folder: Path) -> str:
    """Return the model card of a folder, empty if there is none."""
    card = folder / CARD
    return card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""


def card_header(**fields: str | list[str]) -> str:
    """Return the YAML header of a model card, without the fields that are empty."""
    import yaml

    given = {name: value for name, value in fields.items() if value}
    return f"---\n{yaml.safe_dump(given, sort_keys=False, default_flow_style=None)}---\n"


def language_of(parser: str) -> str:
    """Return the language of a parser, as an ISO 639 code; empty if the parser names none.

    Raises:
        WeightsError: As in `read_config`.
    """
    return str(read_config(parser, PARSER_KIND).get("language", ""))


def read_model(name_or_path: str | Path, kind: str) -> ModelFolder:
    """Return a model folder's content, checked.

    Raises:
        WeightsError: A folder that is missing, damaged, altered, or of another kind of model.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    folder = locate(name_or_path, kind)
    config = read_config(folder, kind)
    if not (folder / WEIGHTS).is_file():
        raise WeightsError(f"{folder}: expected {WEIGHTS} beside {CONFIG}, found no such file")
    # Read once, so that what was checked is what is loaded.
    content = (folder / WEIGHTS).read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != config.get("sha256"):
        raise WeightsError(
            f"{folder / WEIGHTS}: expected sha256 {config.get('sha256')}, got {found}; "
            "the file is truncated or altered, install or train it again"
        )
    try:
        tensors = load(content)
    except SafetensorError as error:
        raise WeightsError(f"{folder / WEIGHTS}: expected a safetensors file, got {error}") from error
    weights = {key: value.float() if value.is_floating_point() else value for key, value in tensors.items()}
    check_finite(weights.items(), str(folder / WEIGHTS))
    return ModelFolder(folder, config, weights)


def check_finite(weights: Iterable[tuple[str, Tensor]], source: str) -> None:
    """Check that weights, given by name, are finite numbers.

    Raises:
        WeightsError: One is infinite or NaN; the message names `source` and the weight.
    """
    for name, value in weights:
        # One infinity or NaN makes the sum non-finite. Overflow does, too, so only then are all values checked.
        if value.is_floating_point() and not value.detach().sum().isfinite() and not value.detach().isfinite().all():
            raise WeightsError(f"{source}: expected weights that are finite numbers, but {name} has others")
