"""Conversion of a Hugging Face model to sparse cross-attention, in place, and back."""

from __future__ import annotations

import inspect
from contextlib import AbstractContextManager
from functools import cache
from types import MethodType
from typing import Any

import torch
from torch import nn

from discsum.abstractive.sparse.attention import SentenceSparseCrossAttention
from discsum.abstractive.sparse.cache import SparseCrossCache
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors import make_selectors
from discsum.abstractive.sparse.selectors._learned import DiscoursePriorSelector, LearnedSelector
from discsum.abstractive.sparse.selectors.base import AttentionShape
from discsum.abstractive.sparse.state import SparseState
from discsum.errors import InputError

NEEDED = ("q_proj", "k_proj", "v_proj", "out_proj", "num_heads", "head_dim", "scaling")
SHARED = "sentence_encoder"


def sparsify(
    model: Any,
    *,
    r: int | None = None,
    selector: str = "mean_key",
    beta: float | None = None,
    share_beams: bool = True,
    dense_where_faster: bool = True,
    **options: Any,
) -> Any:
    """Make a model's cross-attention read `r` sentences per step; return the model, which is changed in place.

    Parameters and their names stay; selectors with parameters add theirs. `generate` takes `layout`, the sentences of
    its inputs, and caches the documents' keys and values once for all beams. Other forward passes take the layout
    from `sentences(model, layout)`. Classes are created at run time: save the weights, not the object.

    Args:
        model: A sequence-to-sequence model of transformers whose decoder layers have `encoder_attn`: BART, mBART,
            PEGASUS, LED.
        r: Sentences that a query reads; all by default.
        selector: Name of the selector; see `discsum.abstractive.sparse.selectors.names()`.
        beta: Weight of the discourse prior, which is then added to the selector; it needs a layout with one.
        share_beams: Whether the beams of a document read the same sentences.
        dense_where_faster: Whether single steps of `generate` read all sentences where that costs less than selecting.
        options: Options of the selector.

    Raises:
        InputError: Another kind of model, a model that is sparse already, an unknown selector, or `r` below 1.
    """
    if r is not None and r < 1:
        raise InputError(f"r: expected at least 1 sentence, got {r}")
    layers = _layers(model)
    if any(isinstance(layer.encoder_attn, SentenceSparseCrossAttention) for layer in layers):
        raise InputError("expected a model with its own cross-attention, got a sparse one; densify it first")
    attentions = [layer.encoder_attn for layer in layers]
    shapes = [AttentionShape(one.embed_dim, one.num_heads, one.head_dim, layer) for layer, one in enumerate(attentions)]
    selectors, shared = make_selectors(selector, shapes, beta=beta, **options)
    state = SparseState(r, share_beams, dense_where_faster)
    for place, attention in enumerate(attentions):
        chosen = selectors[place].to(next(attention.parameters())) if selectors is not None else None
        inner = getattr(chosen, "inner", chosen)
        if isinstance(inner, LearnedSelector):
            # From the word-level projections (Manakul and Gales 2021, section 5).
            inner.query.load_state_dict(attention.q_proj.state_dict())
            inner.key.load_state_dict(attention.k_proj.state_dict())
        dense: Any = type(attention)
        attention.__class__ = _sparse_class(dense)
        attention.sparse, attention.selector = state, chosen
    if shared is not None:
        setattr(model, SHARED, shared.to(model.device, model.dtype))
    # New modules are in training mode, with dropout.
    model.train(model.training)
    model.sparse = state
    model.generate = MethodType(_generate, model)
    return model.to(model.device)


def densify(model: Any) -> Any:
    """Undo `sparsify`; return the model.

    Raises:
        InputError: A model that is not sparse.
    """
    layers = _layers(model)
    if not all(isinstance(layer.encoder_attn, SentenceSparseCrossAttention) for layer in layers):
        raise InputError("expected a sparse model, got one with its own cross-attention")
    for layer in layers:
        attention = layer.encoder_attn
        attention.__class__ = attention.dense_class
        del attention.sparse, attention.selector
    if hasattr(model, SHARED):
        delattr(model, SHARED)
    del model.sparse, model.generate
    return model


def set_beta(model: Any, beta: float) -> None:
    """Set the weight of the discourse prior in a sparse model's selectors, adding the prior where it is missing."""
    for layer in _layers(model):
        attention = layer.encoder_attn
        if not isinstance(attention.selector, DiscoursePriorSelector):
            attention.selector = DiscoursePriorSelector(attention.selector).to(attention.q_proj.weight)
        nn.init.constant_(attention.selector.beta, beta)


def is_selectors(name: str) -> bool:
    """Return whether a parameter of a sparse model belongs to its selectors, by its name."""
    return ".selector." in name or name.startswith(f"{SHARED}.")


def sentences(model: Any, layout: SentenceLayout | None) -> AbstractContextManager[None]:
    """Run a sparse model's forward passes in a block with the sentences of their inputs.

    With gradient checkpointing the backward pass must be in the block too: it repeats forward passes.
    """
    state: SparseState = model.sparse
    return state.using(layout=None if layout is None else layout.to(model.device), memo=(None, {}))


def _generate(model: Any, *arguments: Any, layout: SentenceLayout | None = None, **options: Any) -> Any:
    """Generate as `transformers` does, with the sentences of the inputs and one copy of the documents."""
    if layout is not None:
        _check_fit(layout, arguments, options)
    if _uses_default_cache(model, options):
        options["past_key_values"] = SparseCrossCache(model.config)
    with model.sparse.using(generating=True), sentences(model, layout):
        return type(model).generate(model, *arguments, **options)


def _uses_default_cache(model: Any, options: dict[str, Any]) -> bool:
    """Return whether `generate` caches keys and values, in no other cache than its default."""
    settings = options.get("generation_config") or model.generation_config
    names = ("use_cache", "cache_implementation", "past_key_values")
    used, kind, given = (options.get(name, getattr(settings, name, None)) for name in names)
    return used is not False and kind is None and given is None


def _check_fit(layout: SentenceLayout, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Check that a layout fits the inputs of `generate`."""
    ids = next((one for one in (*arguments, options.get("inputs"), options.get("input_ids")) if one is not None), None)
    states = options.get("encoder_outputs")
    given = ids if ids is not None else states[0] if states is not None else None
    if given is not None and given.shape[:2] != layout.owner.shape:
        raise InputError(
            f"expected a layout of {tuple(given.shape[:2])} tokens, got one of {tuple(layout.owner.shape)}"
        )
    mask = options.get("attention_mask")
    if mask is not None and not torch.equal(mask.bool().cpu(), (layout.owner >= 0).cpu()):
        raise InputError("expected a layout with sentences for the tokens that attention_mask lets through alone")


def _layers(model: Any) -> list[Any]:
    try:
        layers = list(model.get_decoder().layers)
    except AttributeError as error:
        raise InputError(f"expected a sequence-to-sequence model, got {type(model).__name__}") from error
    for layer in layers:
        attention = getattr(layer, "encoder_attn", None)
        missing = [name for name in NEEDED if not hasattr(attention, name)]
        if missing:
            raise InputError(
                f"expected a model whose decoder layers have encoder_attn as BART has it, got {type(model).__name__} "
                f"without {', '.join(missing)}"
            )
    return layers


@cache
def _sparse_class(kind: Any) -> type:
    """Return the sparse class of an attention class, a subclass of it, so that recording of attention weights works."""
    outputs = 3 if "output_attentions" in inspect.signature(kind.forward).parameters else 2
    return type(
        f"SentenceSparse{kind.__name__}",
        (SentenceSparseCrossAttention, kind),
        {"outputs": outputs, "dense_class": kind},
    )
