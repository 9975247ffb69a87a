"""The families of abstractive models by name, each imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from discsum.abstractive.folder import folder_of
from discsum.constants import SUMMARIZER_KIND
from discsum.errors import InputError, WeightsError
from discsum.json_objects import read_object
from discsum.persistence import CONFIG
from discsum.registry import suggestion

if TYPE_CHECKING:
    from discsum.abstractive.family import Family

# Family of any sequence-to-sequence model of transformers whose configuration names no other family.
DEFAULT = "sparse"
# Class of each family, in the module `family` of its folder.
FAMILIES = {DEFAULT: "SparseFamily", "coarse_to_fine": "CoarseToFineFamily", "compressed": "CompressedFamily"}
# Field of `config.json` with the name of the model's family.
FIELD = "discsum_family"


def family_class(name: object) -> type[Family[Any]]:
    """Return the class of a family.

    Raises:
        InputError: An unknown name; the message lists the families.
    """
    if not isinstance(name, str) or name not in FAMILIES:
        raise InputError(f"family: expected one of {', '.join(FAMILIES)}, got {name!r}{suggestion(name, [*FAMILIES])}")
    found: type[Family[Any]] = getattr(import_module(f"discsum.abstractive.{name}.family"), FAMILIES[name])
    return found


def family_of(name_or_path: str) -> str:
    """Return the name of the family of a model in a folder, or of `hf:NAME` on the hub, by its `config.json`.

    A folder without `config.json` gets the default family; loading it fails later.

    Raises:
        WeightsError: A configuration that is not JSON, or that names an unknown family.
    """
    folder = folder_of(name_or_path)
    if folder is None or not (path := folder / CONFIG).is_file():
        return DEFAULT
    config = read_object(path, WeightsError)
    if "kind" in config and "model_type" not in config:
        advice = "; use discsum extract --model" if config["kind"] == SUMMARIZER_KIND else ""
        raise WeightsError(f"{path}: expected a sequence-to-sequence model, got a {config['kind']}{advice}")
    found = config.get(FIELD, DEFAULT)
    if found not in FAMILIES:
        raise WeightsError(f"{path}: {FIELD}: expected one of {', '.join(FAMILIES)}, got {found!r}")
    return str(found)
