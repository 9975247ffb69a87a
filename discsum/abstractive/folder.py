"""Sequence-to-sequence models of transformers in folders and on the hub."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from discsum.abstractive.search_settings import check_search
from discsum.constants import HUB
from discsum.devices import check_device
from discsum.errors import WeightsError
from discsum.files import recover_folder, sha256, sha256_of_text
from discsum.hub import hub_files, local_only
from discsum.json_objects import checked_fields, read_object
from discsum.persistence import CONFIG, check_finite
from discsum.transformers_models import CheckedModel

if TYPE_CHECKING:
    from torch import Tensor

Settings = TypeVar("Settings")
# Models on the hub that Manakul and Gales 2021 fine-tune.
KNOWN = ("facebook/bart-large-cnn", "facebook/bart-large-xsum")
EXPECTED = (
    "the folder of a sequence-to-sequence model with its tokenizer, or hf:NAME of one on the hub, such as "
    + ", ".join(HUB + known for known in KNOWN)
)
# Suffixes of the files of a model and its tokenizer.
READ = (".jinja", ".json", ".model", ".safetensors", ".txt")
# Settings that loading or calling a tokenizer leaves in its `init_kwargs`.
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
        WeightsError: No such model, or a model without a tokenizer, or one that cannot pad.
    """
    check_model_location(name_or_path)
    tokenizer = CheckedModel(name_or_path, EXPECTED).load("AutoTokenizer")
    if not tokenizer.get_vocab().keys() - set(tokenizer.all_special_tokens):
        # Without a tokenizer's files, transformers makes an empty one from the model's configuration.
        raise WeightsError(
            f"{name_or_path}: expected the files of a tokenizer, found none with a vocabulary; write them with "
            "tokenizer.save_pretrained(FOLDER)"
        )
    if tokenizer.pad_token_id is None:
        raise WeightsError(f"{name_or_path}: expected a tokenizer with a padding token (pad_token), found none")
    return tokenizer


def load_model(name_or_path: str, device: str = "cpu") -> Any:
    """Load a sequence-to-sequence model from a folder, or `hf:NAME` from the hub, onto a device.

    Raises:
        WeightsError: No such model, a model without safetensors weights, or one with invalid generation settings.
        InputError: An unavailable device.
    """
    check_device(device)
    check_model_location(name_or_path)
    model = CheckedModel(name_or_path, EXPECTED).load_model("AutoModelForSeq2SeqLM")
    check_search(model, name_or_path)
    return model.to(device)


def check_model(name_or_path: str) -> None:
    """Check that a folder has a configuration, or that the hub has `hf:NAME`, without loading anything.

    Raises:
        WeightsError: There is none.
    """
    check_model_location(name_or_path)
    if not name_or_path.startswith(HUB) and not (Path(name_or_path) / CONFIG).is_file():
        raise _not_found(name_or_path, f"found no {CONFIG}")


def identity(name_or_path: str) -> str:
    """Return the commit of `hf:NAME` on the hub, or a digest of the files of a folder that transformers may read.

    Raises:
        WeightsError: There is no such model.
    """
    check_model(name_or_path)
    if name_or_path.startswith(HUB):
        return CheckedModel(name_or_path, EXPECTED).commit
    files = sorted(path for path in Path(name_or_path).iterdir() if path.suffix in READ)
    return sha256_of_text("".join(f"{path.name}\n{sha256(path)}\n" for path in files))


def check_model_location(name_or_path: str) -> None:
    """Check like `check_model`, but do not require a configuration, because a tokenizer alone has none."""
    if name_or_path.startswith(HUB):
        # Raises if the hub has no such model.
        local_only(name_or_path)
        return
    recover_folder(Path(name_or_path))
    if not Path(name_or_path).is_dir():
        raise _not_found(name_or_path, "found no such folder")


def is_sequence_to_sequence(name_or_path: str) -> bool:
    """Return whether a folder, or `hf:NAME` on the hub, holds a sequence-to-sequence model of transformers."""
    folder = folder_of(name_or_path)
    try:
        return folder is not None and read_object(folder / CONFIG, WeightsError).get("is_encoder_decoder") is True
    except WeightsError:
        return False


def folder_of(name_or_path: str) -> Path | None:
    """Return the folder of a model's files, in the hub's cache for `hf:NAME`; None if the hub has no configuration."""
    if not name_or_path.startswith(HUB):
        return Path(name_or_path)
    path = hub_files(name_or_path, CONFIG)[0]
    return None if path is None else path.parent


def saved_settings(name_or_path: str, field: str, kind: type[Settings]) -> Settings | None:
    """Return the settings under a field of a model's `config.json`, in its folder or on the hub; None without them.

    Raises:
        WeightsError: No such model, or a damaged file.
    """
    check_model_location(name_or_path)
    folder = folder_of(name_or_path)
    if folder is None or not (folder / CONFIG).is_file():
        return None
    path = folder / CONFIG
    content = read_object(path, WeightsError).get(field)
    return None if content is None else checked_fields(kind, content, path, WeightsError)


def load_added(model: Any, name_or_path: str, added: Callable[[str], bool], what: str) -> None:
    """Load the weights that a conversion added to a model from its folder or the hub.

    Args:
        model: The converted model.
        name_or_path: Where it was saved.
        added: Returns whether a weight of this name belongs to the conversion.
        what: Owner of the weights, for error messages.

    Raises:
        WeightsError: Weights of other names or sizes, or damaged files.
    """
    wanted = {name: value.shape for name, value in model.state_dict().items() if added(name)}
    found = dict(_weights(name_or_path, added)) if wanted else {}
    others = wanted.items() ^ {(name, value.shape) for name, value in found.items()}
    if others:
        raise WeightsError(
            f"{name_or_path}: expected the weights of {what}, got others with different names or sizes: "
            f"{', '.join(sorted({name for name, _ in others}))}"
        )
    check_finite(found.items(), name_or_path)
    model.load_state_dict(found, strict=False)


@contextmanager
def without_report() -> Iterator[None]:
    """Keep transformers from reporting a conversion's weights as unexpected."""

    def is_no_report(record: logging.LogRecord) -> bool:
        return record.funcName != "log_state_dict_report"

    logger = logging.getLogger("transformers.modeling_utils")
    # Not a level: if the logger had its own, such as ERROR, transformers would report plans of tensor parallelism.
    logger.addFilter(is_no_report)
    try:
        yield
    finally:
        logger.removeFilter(is_no_report)


def plain_tokenizer(tokenizer: Any) -> Any:
    """Return a copy of a tokenizer without the settings left from its loading and its last call."""
    plain = copy.deepcopy(tokenizer)
    if getattr(plain, "backend_tokenizer", None) is not None:
        plain.backend_tokenizer.no_truncation()
        plain.backend_tokenizer.no_padding()
    for name in CALL_SETTINGS:
        plain.init_kwargs.pop(name, None)
    return plain


def _not_found(name_or_path: str, found: str) -> WeightsError:
    return WeightsError(f"{name_or_path}: expected {EXPECTED}; {found}")


def _weights(name_or_path: str, chosen: Callable[[str], bool]) -> Iterator[tuple[str, Tensor]]:
    """Yield the chosen weights from a model's safetensors files; large models have several."""
    from safetensors import SafetensorError, safe_open

    folder = folder_of(name_or_path)
    for path in sorted(folder.glob("model*.safetensors")) if folder is not None else []:
        try:
            with safe_open(path, framework="pt") as tensors:
                for name in filter(chosen, tensors.keys()):
                    yield name, tensors.get_tensor(name)
        except (SafetensorError, OSError) as error:
            raise WeightsError(f"{path}: expected safetensors, got {error}") from error
