"""Settings of transformers' models, checked before anything is built from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

from msgspec import Meta

from discsum.errors import InputError, WeightsError
from discsum.recipes.fields import Checked, Count

# Fields that name Python code, and fields that name code in a repository if their value has a slash.
CODE = ("auto_map", "custom_generate", "custom_pipelines")
IMPLEMENTATION = "_implementation"
# Each layer and label costs time and memory before sizes are compared with the weights.
Layers = Annotated[int, Meta(ge=0, le=1000)]
Labels = Annotated[int, Meta(ge=0, le=100_000)]


@dataclass(frozen=True)
class SharedFields(Checked):
    """Fields with the same meaning in all configurations; None if a configuration lacks them."""

    vocab_size: Count | None = None
    hidden_size: Count | None = None
    d_model: Count | None = None
    d_kv: Count | None = None
    d_ff: Count | None = None
    encoder_ffn_dim: Count | None = None
    decoder_ffn_dim: Count | None = None
    num_attention_heads: Count | None = None
    encoder_attention_heads: Count | None = None
    decoder_attention_heads: Count | None = None
    max_position_embeddings: Count | None = None
    num_hidden_layers: Layers | None = None
    num_layers: Layers | None = None
    num_decoder_layers: Layers | None = None
    n_layers: Layers | None = None
    n_layer: Layers | None = None
    encoder_layers: Layers | None = None
    decoder_layers: Layers | None = None
    num_labels: Labels | None = None
    id2label: dict[str, Any] | None = None
    label2id: dict[str, Any] | None = None


def check_settings(settings: Mapping[str, Any], source: str) -> None:
    """Check that no field, at any depth, names code to run, and that the `SharedFields` are in range.

    Raises:
        WeightsError: A field names code or is out of range; the message names it.
    """
    for name, value in _fields(settings):
        inner = list(value.values()) if isinstance(value, dict) else [value]
        repository = name.endswith(IMPLEMENTATION) and any(isinstance(one, str) and "/" in one for one in inner)
        if repository or (name in CODE and value):
            raise WeightsError(
                f"{source}: {name}: expected a model whose code is transformers' own, got {str(value)[:80]!r}; "
                "discsum runs no code from model folders"
            )
    try:
        for one in _configurations(settings):
            SharedFields.from_dict({field.name: one[field.name] for field in fields(SharedFields) if field.name in one})
    except InputError as error:
        raise WeightsError(f"{source}: {error}") from error


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield all fields of nested objects; `read_object` has bounded their depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield str(name), inner
            yield from _fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _fields(inner)


def _configurations(settings: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a configuration and those of its component models, at any depth."""
    yield settings
    for inner in settings.values():
        if isinstance(inner, Mapping) and "model_type" in inner:
            yield from _configurations(inner)
