"""Cross-attention that reads selected sentences of each document (Manakul and Gales 2021, sections 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from discsum.abstractive.sparse.cache import LayerDocuments, SparseCrossCache, StateDocuments
from discsum.abstractive.sparse.costs import states_are_cheaper
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector
from discsum.abstractive.sparse.state import Observation, SparseState
from discsum.errors import InputError

# Key of the memo: encoder states, one copy per document.
STATES = "encoder states"


@dataclass(frozen=True, eq=False)
class _Queries:
    """Queries grouped by document, scaled and `unscaled` `(documents, heads, beams * steps, head_size)`.

    Stock attention takes unscaled ones; in half precision, scaling first would round twice.
    """

    scaled: Queries
    unscaled: Tensor
    beams: int


class SentenceSparseCrossAttention(nn.Module):
    """Mixin over an attention class of transformers that reuses its projections; see `sparsify`."""

    sparse: SparseState
    selector: Selector | None
    outputs: int
    layer_idx: int
    num_heads: int
    head_dim: int
    scaling: float
    dropout: float
    q_proj: Any
    k_proj: Any
    v_proj: Any
    out_proj: Any

    def forward(
        self,
        hidden_states: Tensor,
        key_value_states: Tensor | None = None,
        past_key_values: Any = None,
        attention_mask: Tensor | None = None,
        output_attentions: bool = False,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Return `(rows, steps, width)`, attention weights if they are recorded, and for some models the cache."""
        assert key_value_states is not None, "cross-attention has encoder states"
        rows, steps, width = hidden_states.shape
        state, layout = self.sparse, self.sparse.layout
        documents = layout.documents if layout is not None else rows
        if rows % documents or (rows != documents and not state.generating):
            raise InputError(
                f"expected a layout of {rows} documents, or of one for every several beams, got one of {documents}"
            )
        if layout is not None and layout.owner.shape[1] != key_value_states.shape[1]:
            raise InputError(
                f"expected a layout of {key_value_states.shape[1]} tokens as the encoder's, got one of "
                f"{layout.owner.shape[1]}; make it from the same encoding"
            )
        beams = rows // documents
        grouped = hidden_states.reshape(documents, beams * steps, width)
        unscaled = self._heads(self.q_proj, grouped)
        queries = _Queries(Queries(grouped, unscaled * self.scaling), unscaled, beams)
        cached = partial(self._cached, key_value_states, past_key_values, beams)
        # Eager attention returns attention weights.
        eager = getattr(getattr(self, "config", None), "_attn_implementation", None) == "eager"
        recorded = state.observer is not None or output_attentions or eager or state.by_attention is not None
        one_step = steps == 1 and not torch.is_grad_enabled() and not recorded
        weights = None
        if layout is None or (self._reads_all(layout) and not recorded) or (one_step and all(self._whole(layout))):
            mixed = self._dense(queries, cached(), attention_mask)
        elif one_step:
            mixed = self._one_step(queries, cached(few=self._reads_states(layout, beams)), layout)
        else:
            mixed, weights = self._observed(queries, cached(), layout)
        # (documents, heads, beams * steps, head_size) -> (rows, steps, width)
        output = self.out_proj(mixed.transpose(1, 2).reshape(rows, steps, width))
        return (output, weights, past_key_values)[: self.outputs]

    def _heads(self, projection: Any, states: Tensor) -> Tensor:
        return torch.unflatten(projection(states), -1, (self.num_heads, self.head_dim)).transpose(-3, -2)

    def _tokens(self, projection: Any, states: Tensor) -> Tensor:
        # Each head's tokens contiguous in memory: the fastest layout for attention to all of them, by measurement.
        return self._heads(projection, states).contiguous()

    def _cached(self, states: Tensor, cache: Any, beams: int, *, few: bool = False) -> Any:
        """Return the documents' `LayerDocuments`; if `few` sentences are read, perhaps `StateDocuments` instead."""
        cache, layout = cache if isinstance(cache, SparseCrossCache) else None, self.sparse.layout
        found: Any = cache.documents.get(self.layer_idx) if cache is not None else None
        if found is not None and found.layout is layout and (few or isinstance(found, LayerDocuments)):
            return found
        if layout is None:
            found = LayerDocuments(None, self._tokens(self.k_proj, states), self._tokens(self.v_proj, states), ())
        else:
            # Layers run in order: layer 0 is the first of a pass.
            memo = self.sparse.shared(states, first=self.layer_idx == 0)
            if STATES not in memo:
                # All beams of a document have the same encoder states; keep one copy.
                memo[STATES] = states[::beams].contiguous()
            source = EncodedTokens(memo[STATES], layout, partial(self._tokens, self.k_proj), memo)
            summary = self.selector.summarise(source) if self.selector is not None else ()
            mappable = not source.has_keys and _is_plain(self.k_proj) and _is_plain(self.v_proj)
            if few and cache is not None and mappable:
                found = StateDocuments(layout, source.states, summary, self.k_proj, self.v_proj)
            else:
                found = LayerDocuments(layout, source.keys, self._tokens(self.v_proj, source.states), summary)
        if cache is not None:
            cache.documents[self.layer_idx] = found
            cache.is_updated[self.layer_idx] = True
        return found

    def _reads_all(self, layout: SentenceLayout) -> bool:
        r = self.sparse.r
        return self.selector is None or r is None or r >= layout.mask.shape[1]

    def _dense(self, queries: _Queries, kept: LayerDocuments, mask: Tensor | None) -> Tensor:
        """Return full attention `(documents, heads, queries, head_size)`; a layout takes the place of the mask."""
        if self.sparse.layout is not None:
            inside = self.sparse.layout.owner >= 0
            mask = None if bool(inside.all()) else inside[:, None, None, :]
        elif mask is not None:
            if not isinstance(mask, Tensor) or mask.dim() != 4:
                raise InputError(
                    "expected the attention mask of attn_implementation 'sdpa' or 'eager', got another's; load the "
                    "model with one of them"
                )
            mask = mask[:, :, :1]
        dropout = self.dropout if self.training else 0.0
        return torch.nn.functional.scaled_dot_product_attention(
            queries.unscaled, kept.keys, kept.values, attn_mask=mask, dropout_p=dropout, scale=self.scaling
        )

    def _selected(
        self,
        queries: _Queries,
        kept: LayerDocuments | StateDocuments,
        layout: SentenceLayout,
        alpha: Tensor | None = None,
    ) -> Tensor:
        """Return the top `r` sentences `(documents, queries or steps, r)`, -1 for missing ones.

        They are ranked by the selector, or by full attention `alpha` for the documents of `SparseState.by_attention`.
        """
        assert self.selector is not None and self.sparse.r is not None
        by_attention = self.sparse.by_attention
        if alpha is not None and by_attention is not None and bool(by_attention.all()):
            scores = alpha.mean(dim=1)
        else:
            scores = self.selector.scores(queries.scaled, kept.summary, layout)
            if alpha is not None and by_attention is not None:
                scores = torch.where(by_attention[:, None, None], alpha.mean(dim=1), scores)
        if self.sparse.share_beams:
            scores = torch.unflatten(scores, 1, (queries.beams, -1)).mean(dim=1)
        scores = scores.masked_fill(~layout.mask[:, None, :], float("-inf"))
        best = scores.topk(min(self.sparse.r, scores.shape[-1]), dim=-1)
        return best.indices.masked_fill(best.values == float("-inf"), -1)

    def _observed(self, queries: _Queries, kept: LayerDocuments, layout: SentenceLayout) -> tuple[Tensor, Tensor]:
        """Return attention to the selected sentences and its weights, for training and analyses."""
        observer = self.sparse.observer
        products = queries.unscaled @ kept.keys.transpose(2, 3) * self.scaling
        products = products.masked_fill((layout.owner < 0)[:, None, None, :], float("-inf"))
        predicted = alpha = None
        if observer is not None or self.sparse.by_attention is not None:
            alpha = layout.sums(torch.softmax(products, dim=-1))
        if self._reads_all(layout):
            read = layout.mask[:, None, :].expand(-1, products.shape[2], -1)
        else:
            read = self._read(queries, kept, layout, alpha)
        if observer is not None and alpha is not None:
            if self.selector is not None:
                predicted = self.selector.log_probabilities(queries.scaled, kept.summary, layout)
            observer(Observation(self.layer_idx, alpha, predicted, read))
        tokens = layout.spread(read.to(products.dtype)) > 0
        weights = torch.softmax(products.masked_fill(~tokens[:, None], float("-inf")), dim=-1)
        mixed = torch.nn.functional.dropout(weights, self.dropout, self.training) @ kept.values
        # (documents, heads, beams * steps, tokens) -> (rows, heads, steps, tokens)
        return mixed, torch.unflatten(weights, 2, (queries.beams, -1)).transpose(1, 2).flatten(0, 1)

    @torch.no_grad()
    def _read(self, queries: _Queries, kept: LayerDocuments, layout: SentenceLayout, alpha: Tensor | None) -> Tensor:
        """Return `(documents, queries, sentences)`: true for sentences that a query reads."""
        selected = self._selected(queries, kept, layout, alpha)
        sentences = layout.mask.shape[1]
        read = torch.zeros(*selected.shape[:2], sentences + 1, dtype=torch.bool, device=selected.device)
        # Index -1 becomes the column after the last sentence, which is dropped.
        read = read.scatter(-1, selected % (sentences + 1), value=True)[..., :-1]
        if self.sparse.generating:
            # A prompt reads the same sentences as the single steps after it.
            whole = torch.tensor(self._whole(layout), device=read.device)
            read = read | (whole[:, None, None] & layout.mask[:, None, :])
        return read.repeat(1, queries.beams, 1) if self.sparse.share_beams else read

    def _whole(self, layout: SentenceLayout) -> list[bool]:
        """Return, for each document, whether a step reads all of its sentences."""
        return [self.sparse.read(len(spans)) == len(spans) for spans in layout.spans]

    def _reads_states(self, layout: SentenceLayout, beams: int) -> bool:
        """Return whether to read encoder states instead of keys and values, which are cheap on a GPU."""
        sentences = [len(spans) for spans in layout.spans]
        read = [self.sparse.read(count) for count in sentences]
        return layout.owner.device.type == "cpu" and states_are_cheaper(sentences, read, self.head_dim, beams)

    def _one_step(self, queries: _Queries, kept: LayerDocuments | StateDocuments, layout: SentenceLayout) -> Tensor:
        """Return attention of one step of every beam to the tokens of the selected sentences.

        Documents of few sentences are read whole, independently of the rest of the batch.
        """
        chosen = self._selected(queries, kept, layout).tolist()
        mixed = torch.empty_like(queries.unscaled)
        for document, (groups, whole) in enumerate(zip(chosen, self._whole(layout), strict=True)):
            unscaled = queries.unscaled[document]
            if whole:
                spans = layout.spans[document]
                every = slice(spans[0][0], spans[-1][1])
                mixed[document] = kept.attend(unscaled, document, every, self.scaling)
                continue
            for place, group in enumerate(groups):
                rows = slice(None) if self.sparse.share_beams else slice(place, place + 1)
                tokens = layout.tokens(document, sorted(one for one in group if one >= 0))
                mixed[document, :, rows] = kept.attend(unscaled[:, rows], document, tokens, self.scaling)
        return mixed


def _is_plain(module: Any) -> bool:
    """Return whether a module is a plain `nn.Linear`, without hooks, wrappers or a replaced forward."""
    hooks = module._forward_hooks or module._forward_pre_hooks
    return type(module) is nn.Linear and not hooks and "forward" not in vars(module)
