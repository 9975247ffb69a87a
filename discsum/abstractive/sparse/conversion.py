"""Conversion of a Hugging Face model to sparse cross-attention, in place, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from torch import nn

from discsum.abstractive.entry_points import attach, detach
from discsum.abstractive.projections import cross_attentions
from discsum.abstractive.sparse.attention import SparseCrossAttention
from discsum.abstractive.sparse.calls import SparseSettings, check_r
from discsum.abstractive.sparse.config import SparseConfig
from discsum.abstractive.sparse.selectors import check_options, make_selectors
from discsum.abstractive.sparse.selectors._learned import DiscoursePriorSelector, LearnedSelector
from discsum.abstractive.sparse.selectors.base import AttentionShape
from discsum.errors import InputError

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
    """Make a model's cross-attention read only `r` sentences per step, in place, and return the model.

    Existing parameters keep their names; selectors with parameters add their own. `forward` and `generate` take
    `layout`, the sentences of their inputs. Keys and values are cached once per document, for all its rows. Calls on
    one model may run in several threads at once, each with its own layout. `model.sparse` has the settings; its `last`
    says what was read. `save_pretrained` keeps settings and selector; `from_pretrained` of this package reads them.

    Args:
        model: A sequence-to-sequence model of transformers whose attention class is in
            `discsum.abstractive.projections.PROJECTIONS`.
        r: Number of sentences that a query reads; by default all.
        selector: Name of the selector; see `discsum.abstractive.sparse.selectors.names()`.
        beta: Weight of the discourse prior. If given, the prior is added to the selector, and layouts must have one.
        share_beams: Whether the beams of a document read the same sentences; samples never do.
        dense_where_faster: Whether steps of a single token read all sentences where that costs less than selecting.
        options: Options of the selector.

    Raises:
        InputError: An unsupported model, a model that is already sparse, an unknown selector, or `r` below 1.
    """
    check_r(r)
    if hasattr(model, "sparse"):
        raise InputError("expected a model with its original cross-attention, got a sparse one; densify it first")
    attentions = cross_attentions(model)
    shapes = [
        AttentionShape(one.query.in_features, one.heads, one.head_size, layer, one.scaling, one.query.bias is not None)
        for layer, one in enumerate(attentions)
    ]
    check_options(selector, options, beta, r)
    selectors, shared = make_selectors(selector, shapes, beta=beta, **options)
    settings = SparseSettings(SparseConfig(selector, r, beta, share_beams, dense_where_faster, options))
    for layer, projections in enumerate(attentions):
        module = projections.module
        if selectors is not None:
            chosen = selectors[layer].to(next(module.parameters()))
            inner = getattr(chosen, "inner", chosen)
            if isinstance(inner, LearnedSelector):
                # Initialise from the word-level projections (Manakul and Gales 2021, appendix A.1).
                inner.query.load_state_dict(projections.query.state_dict())
                inner.key.load_state_dict(projections.key.state_dict())
            module.selector = chosen.train(module.training)
        module.forward = SparseCrossAttention(projections, settings, layer)
    if shared is not None:
        setattr(model, SHARED, shared.to(model.device, model.dtype).train(model.training))
    attach(model, settings)
    return model.to(model.device)


def densify(model: Any) -> Any:
    """Undo `sparsify`; return the model.

    Raises:
        InputError: A model that is not sparse.
    """
    if not hasattr(model, "sparse"):
        raise InputError("expected a sparse model, got one with its original cross-attention")
    for projections in cross_attentions(model):
        module = projections.module
        del module.forward
        if hasattr(module, "selector"):
            del module.selector
    if hasattr(model, SHARED):
        delattr(model, SHARED)
    detach(model, model.sparse)
    return model


def set_beta(model: Any, beta: float) -> None:
    """Set the weight of the discourse prior in a sparse model's selectors, adding the prior where it is missing."""
    for projections in cross_attentions(model):
        module = projections.module
        if not isinstance(module.selector, DiscoursePriorSelector):
            module.selector = DiscoursePriorSelector(module.selector).to(projections.query.weight)
        nn.init.constant_(module.selector.beta, beta)
    model.sparse.config = replace(model.sparse.config, beta=beta)


def is_selectors(name: str) -> bool:
    """Return whether a parameter of this name belongs to the selectors of a sparse model."""
    return ".selector." in name or name.startswith(f"{SHARED}.")
