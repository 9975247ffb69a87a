"""Sequence-to-sequence models of transformers in folders and on the hub."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from discsum.constants import HUB
from discsum.devices import check_device
from discsum.errors import WeightsError
from discsum.files import replaced
from discsum.hub import local_only
from discsum.persistence import CONFIG

# Models on the hub that Manakul and Gales 2021 fine-tune.
KNOWN = ("facebook/bart-large-cnn", "facebook/bart-large-xsum")
# Settings that loading and calls leave in a tokenizer.
CALL_SETTINGS = (
    "local_files_only",
    "is_local",
    "max_length",
    "stride",
    "truncation_strategy",
    "truncation_side",
    "pad_to",
)


def load_tokenizer(name_or_path: str) -> Any:
    """Return the tokenizer of a sequence-to-sequence model in a folder, or of `hf:NAME` on the hub.

    Raises:
        WeightsError: No such model, or a model without a tokenizer.
    """
    from transformers import AutoTokenizer

    if not name_or_path.startswith(HUB):
        replaced(Path(name_or_path))
    return _loaded(AutoTokenizer, name_or_path)


def load_model(name_or_path: str, device: str = "cpu") -> Any:
    """Return a sequence-to-sequence model of a folder, or `hf:NAME` of the hub, on a device.

    Raises:
        WeightsError: No such model, or a model without safetensors weights.
        InputError: A device that is not here.
    """
    from transformers import AutoModelForSeq2SeqLM

    check_device(device)
    return _loaded(AutoModelForSeq2SeqLM, name_or_path, use_safetensors=True).to(device)


def check_model(name_or_path: str) -> None:
    """Check that there is a folder with a configuration, or that the hub has `hf:NAME`; nothing is loaded.

    Raises:
        WeightsError: There is none.
    """
    check_place(name_or_path)
    if not name_or_path.startswith(HUB) and not (Path(name_or_path) / CONFIG).is_file():
        raise _not_found(name_or_path, f"found no {CONFIG}")


def check_place(name_or_path: str) -> None:
    """Check as `check_model` does, without asking for a configuration, which a tokenizer alone does not have."""
    if name_or_path.startswith(HUB):
        # Raises if it is no name of the hub.
        local_only(name_or_path)
        return
    replaced(Path(name_or_path))
    if not Path(name_or_path).is_dir():
        raise _not_found(name_or_path, "found no such folder")


def is_sequence_to_sequence(name_or_path: str) -> bool:
    """Return whether a folder, or `hf:NAME` on the hub, holds a sequence-to-sequence model of transformers."""
    path = Path(name_or_path) / CONFIG
    if name_or_path.startswith(HUB):
        path = hub_files(name_or_path, CONFIG)[0] or Path()
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and content.get("is_encoder_decoder") is True


def hub_files(name: str, *files: str) -> list[Path | None]:
    """Return files of `hf:NAME`, downloaded into one folder; none for each that is missing or cannot be reached.

    Raises:
        WeightsError: No such name on the hub, or no hub.
    """
    local = local_only(name)
    from transformers.utils.hub import cached_file

    options = {"local_files_only": local, "_raise_exceptions_for_missing_entries": False}
    try:
        found = [cached_file(name.removeprefix(HUB), file, **options) for file in files]
    except OSError:
        # The network went away: loading the model itself reports it.
        return [None] * len(files)
    return [None if path is None else Path(path) for path in found]


def plain_tokenizer(tokenizer: Any) -> Any:
    """Return a copy of a tokenizer without the settings of its last call and of its loading."""
    plain = copy.deepcopy(tokenizer)
    if getattr(plain, "backend_tokenizer", None) is not None:
        plain.backend_tokenizer.no_truncation()
        plain.backend_tokenizer.no_padding()
    for name in CALL_SETTINGS:
        plain.init_kwargs.pop(name, None)
    return plain


def _loaded(kind: Any, name_or_path: str, **options: Any) -> Any:
    """Return what a class of transformers loads; only names with `hf:` are looked up on the hub."""
    from safetensors import SafetensorError

    hub = name_or_path.startswith(HUB)
    local = not hub or local_only(name_or_path)
    try:
        if not hub and not Path(name_or_path).is_dir():
            raise OSError("found no such folder")
        return kind.from_pretrained(name_or_path.removeprefix(HUB), local_files_only=local, **options)
    except (OSError, ValueError, SafetensorError) as error:
        raise _not_found(name_or_path, str(error).splitlines()[0]) from error


def _not_found(name_or_path: str, found: str) -> WeightsError:
    return WeightsError(
        f"{name_or_path}: expected the folder of a sequence-to-sequence model with its tokenizer, or hf:NAME of "
        f"one on the hub, as {', '.join(HUB + known for known in KNOWN)}; {found}"
    )
