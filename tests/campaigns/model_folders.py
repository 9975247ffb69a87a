"""Altered model folders: each is refused with a one-line message, or loads and works."""

from __future__ import annotations

import copy
import hashlib
import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tiny
import torch
from safetensors.torch import load_file, save_file

from discsum.encoder.features import COUNT
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.errors import DiscsumError
from discsum.parsers.parser import Parser
from discsum.parsers.pretrained import pretrained_encoder
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.folder import SummarizerConfig

VALUES: list[Any] = [None, True, 0, -1, 1, 2, 3.5, 10**7, 10**30, 1e308, "", "2", "x", "../..", [], [1], {}, {"a": 1}]
VALUES += [
    ["NS", "cause"],
    "gelu",
    "t5",
    "bert",
    {"auto_map": {"AutoModel": "a.B"}},
    "someone/kernel",
    "\ud800",
    [[]] * 9,
]
NAMES = ["auto_map", "attn_implementation", "model_type", "hidden_act", "num_labels", "is_decoder", "extra"]


def models(folder: Path) -> dict[str, Callable[[Path], object]]:
    """Write a model of each kind to `folder`; return functions that load and use a folder of each kind."""
    tiny.make_parser().save_pretrained(folder / "parser")
    parser = Parser.from_pretrained(folder / "parser")
    torch.manual_seed(7)
    network = Synthesizer(SynthesizerConfig(width=32, features=COUNT, inner=16, scorer=8))
    config = SummarizerConfig(name="tiny", parser=str(folder / "parser"), units=2)
    ExtractiveSummarizer(network, config, parser).save_pretrained(folder / "summarizer")
    tiny.save_encoder(folder / "encoder")
    return {
        "parser": lambda path: Parser.from_pretrained(path).parse(tiny.ARTICLE),
        "summarizer": lambda path: ExtractiveSummarizer.from_pretrained(path).summarize(tiny.ARTICLE),
        "encoder": lambda path: pretrained_encoder(str(path)),
    }


def change_value(content: Any, random: np.random.Generator) -> None:
    """Change, remove or add a field somewhere in an object."""
    place, inner = content, content
    while isinstance(inner, dict | list) and inner and random.random() < 0.7:
        place = inner
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        inner = place[keys[random.integers(len(keys))]]
    value = copy.deepcopy(VALUES[random.integers(len(VALUES))])
    if isinstance(place, list):
        place[random.integers(len(place))] = value
        return
    keys = [*place, *NAMES]
    key = keys[random.integers(len(keys))]
    if key in place and random.random() < 0.2:
        del place[key]
    else:
        place[key] = value


def alter(folder: Path, random: np.random.Generator) -> str:
    """Alter one file of a folder; return a description of the change."""
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".safetensors"))
    path = paths[random.integers(len(paths))]
    kind = random.integers(6)
    if kind == 0:
        path.unlink()
        return f"{path.name} removed"
    if kind == 1:
        path.write_bytes(path.read_bytes()[: random.integers(path.stat().st_size + 1)])
        return f"{path.name} cut"
    if kind == 2:
        content = bytearray(path.read_bytes())
        for place in random.integers(len(content), size=3):
            content[place] = random.integers(256)
        path.write_bytes(bytes(content))
        sign(folder)
        return f"{path.name} other bytes"
    if path.suffix == ".safetensors":
        tensors = load_file(path)
        name = sorted(tensors)[random.integers(len(tensors))]
        changes = [tensors[name] * float("nan"), tensors[name].reshape(-1)[:1], tensors[name].double(), None]
        changed = changes[random.integers(len(changes))]
        others = {key: value for key, value in tensors.items() if key != name}
        save_file(others if changed is None else others | {name: changed}, path, {"format": "pt"})
        sign(folder)
        return f"{name} {'removed' if changed is None else tuple(changed.shape)}"
    content = json.loads(path.read_text())
    for _ in range(int(random.integers(1, 4))):
        change_value(content, random)
    path.write_text(json.dumps(content))
    sign(folder)
    return f"{path.name} other fields"


def sign(folder: Path) -> None:
    """Write the checksums of the altered files to the configuration, as an attacker would."""
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError):
        return
    if not isinstance(config, dict):
        return
    for key, name in (("sha256", "model.safetensors"), ("tokenizer_sha256", "tokenizer.json")):
        if key in config and (folder / name).is_file():
            config[key] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(config))


def attack(count: int, seed: int) -> Mapping[str, object]:
    """Load and use `count` altered folders."""
    random = np.random.default_rng(seed)
    refused = 0
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        uses = models(Path(place))
        for number in range(count):
            name = sorted(uses)[number % len(uses)]
            altered = Path(place) / "altered"
            shutil.rmtree(altered, ignore_errors=True)
            shutil.copytree(Path(place) / name, altered)
            done = alter(altered, random)
            try:
                uses[name](altered)
            except DiscsumError as error:
                refused += 1
                assert "\n" not in str(error), (done, str(error))
                assert "expected" in str(error), (done, str(error))
                assert len(str(error)) < 1500, (done, str(error))
            except Exception as error:
                config = altered / "config.json"
                shown = config.read_text()[:3000] if config.is_file() else ""
                raise AssertionError(f"{name} {number}, {done}: {type(error).__name__}: {error}; {shown}") from error
    return {"folders": count, "refused": refused}
