"""Loading from transformers: the one place that calls its `from_pretrained`, `from_config` and `for_model`.

Code from a model's author is never run. transformers can run such code in several ways, most of which a JSON file of
the model triggers, so these files are checked before anything is built from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discsum.constants import HUB
from discsum.errors import WeightsError, few, warn_caller
from discsum.hub import hub_files, local_only
from discsum.json_objects import read_object
from discsum.model_settings import check_settings
from discsum.persistence import CONFIG, check_finite

# Files whose fields transformers obeys, and the file of an adapter, which names another model to load.
SETTINGS = ("config.json", "tokenizer_config.json", "generation_config.json")
ADAPTER = "adapter_config.json"
TOKENIZER = "tokenizer.json"
# Characters shown of a message of transformers, at most.
LONGEST = 300
SAFE, PICKLED = ".safetensors", (".bin", ".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".h5", ".msgpack")


class CheckedModel:
    """A folder or a name on the hub, checked once before a tokenizer, configuration or weights are loaded from it.

    Create one for each load and do not keep it, because files may change.
    """

    def __init__(self, name: str, expected: str, revision: str = "") -> None:
        """Check the files.

        Args:
            name: A folder, or a name on the hub, with or without `hf:`.
            expected: What the model should be, for the error message.
            revision: Commit on the hub, by default the newest.

        Raises:
            WeightsError: There is no such name on the hub, or the model would run code that is not transformers' own.
        """
        self.name, self.expected = name, expected
        self._source = name.removeprefix(HUB)
        self._on_hub, self._revision = name.startswith(HUB) or not Path(name).is_dir(), revision
        local = not self._on_hub or local_only(name, revision=revision or None)
        self._options: dict[str, Any] = {"local_files_only": local}
        if revision:
            self._options["revision"] = revision
        check_files(name, revision)

    @property
    def commit(self) -> str:
        """The commit on the hub, by which its cache names the folder of the files; empty for a folder of the user."""
        path = hub_files(self.name, CONFIG, revision=self._revision)[0] if self._on_hub else None
        return "" if path is None else path.parent.name

    def load(self, kind: str, **options: Any) -> Any:
        """Return what a class of transformers, such as `AutoTokenizer`, loads; `options` are its `from_pretrained`'s.

        Raises:
            WeightsError: There is no such model, or it is damaged.
        """
        try:
            import transformers

            return getattr(transformers, kind).from_pretrained(
                self._source, trust_remote_code=False, **self._options, **options
            )
        except Exception as error:
            # A damaged folder may raise exceptions of a dozen classes.
            _check_tokenizer(Path(self._source) / TOKENIZER)
            raise WeightsError(f"{self.name}: expected {self.expected}; got {_line(error)}") from error

    def load_model(self, kind: str, **options: Any) -> Any:
        """Return a model as `load` does, with weights from safetensors only; warn of weights that the files lack.

        Raises:
            WeightsError: As `load`; also weights that are not finite, or files that lack most weights, such as those of
                another model.
        """
        model, report = self.load(kind, use_safetensors=True, output_loading_info=True, **options)
        check_finite(model.named_parameters(), self.name)
        # The pooler is not used here, and many files do not have it.
        missing = sorted(key for key in report["missing_keys"] if "pooler." not in key)
        if 2 * len(missing) > sum("pooler." not in name for name, _ in model.named_parameters()):
            raise WeightsError(
                f"{self.name}: expected the weights of a {type(model).__name__}, as its configuration says; its files "
                f"lack most of them, {few(missing, 1)}"
            )
        if missing:
            warn_caller(f"{self.name}: its files lack the weights {few(missing, 1)}, which are initialised at random")
        return model


def build_model(settings: Mapping[str, Any], source: str) -> Any:
    """Return an encoder of transformers without weights.

    Args:
        settings: Its configuration, as transformers saves it.
        source: Where that was read, for messages.

    Raises:
        WeightsError: An invalid configuration, or one that would run code that is not transformers' own.
    """
    check_settings(settings, source)
    own = dict(settings)
    model_type = own.pop("model_type", None)
    try:
        from transformers import AutoConfig, AutoModel

        config = AutoConfig.for_model(model_type, **own)
        return AutoModel.from_config(config, trust_remote_code=False)  # type: ignore[no-untyped-call]
    except Exception as error:
        raise WeightsError(f"{source}: expected the configuration of an encoder; got {_line(error)}") from error


def check_files(source: str, revision: str = "") -> None:
    """Check the files of a folder, or of a name on the hub, before anything is built from them.

    Raises:
        WeightsError: Settings that are not JSON or name code, or an adapter; in a folder also Python files, or pickled
            weights without safetensors.
    """
    folder = Path(source)
    if folder.is_dir():
        found = [path for name in (*SETTINGS, ADAPTER) if (path := folder / name).is_file()]
        _check_names(folder)
    else:
        found = [path for path in hub_files(source, *SETTINGS, ADAPTER, revision=revision) if path is not None]
    for path in found:
        if path.name == ADAPTER:
            raise WeightsError(
                f"{path}: expected a whole model, got an adapter, which names another model to load; merge it into "
                "that model and save the result"
            )
        check_settings(read_object(path, WeightsError), str(path))


def _check_tokenizer(path: Path) -> None:
    """Raise `WeightsError` if a file exists but the library `tokenizers` cannot load it."""
    if not path.is_file():
        return
    from tokenizers import Tokenizer

    try:
        Tokenizer.from_file(str(path))
    except Exception as error:
        raise WeightsError(f"{path}: expected a tokenizer as written by save_pretrained; got {_line(error)}") from error


def _check_names(folder: Path) -> None:
    names = sorted(path.name for path in folder.iterdir())
    code = next((name for name in names if name.endswith(".py")), None)
    if code is not None:
        raise WeightsError(f"{folder / code}: expected a model without its own code; remove the file to load the rest")
    pickled = next((name for name in names if name.endswith(PICKLED)), None)
    if pickled is not None and not any(name.endswith(SAFE) for name in names):
        raise WeightsError(
            f"{folder / pickled}: expected weights as safetensors; other files are not loaded, because reading them "
            "can run code. Convert them: save_pretrained of transformers writes safetensors"
        )


def _line(error: Exception) -> str:
    said = " ".join(str(error).split())
    if "ignore_mismatched_sizes" in said:
        return "weights of different sizes than its configuration says"
    # Some messages go on to list all architectures.
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]}..."
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
