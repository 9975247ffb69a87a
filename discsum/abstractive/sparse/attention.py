"""Cross-attention that reads selected sentences of each document (Manakul and Gales 2021, sections 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from discsum.abstractive.sparse.cache import SparseCrossCache
from discsum.abstractive.sparse.costs import states_are_cheaper
from discsum.abstractive.sparse.documents import LayerDocuments, StateDocuments
from discsum.abstractive.sparse.layout import SentenceLayout
from discsum.abstractive.sparse.selectors.base import AttentionShape, EncodedTokens, Queries, Selector
from discsum.abstractive.sparse.state import Observation, SparseState
from discsum.errors import InputError

# Key of the memo: encoder states, one copy per document.
STATES = "encoder states"


@dataclass(frozen=True, eq=False)
class _Queries:
    """Queries grouped by document, scaled and `unscaled` `(documents, heads, queries, head_size)`.

    Stock attention takes unscaled ones; in half precision, scaling first would round twice.
    """

    scaled: Queries
    unscaled: Tensor
    beams: int
    steps: int


class SentenceSparseCrossAttention(nn.Module):
    """Mixin over an attention class of transformers that reuses its projections; see `sparsify`."""

    sparse: SparseState
    selector: Selector | None
    outputs: int
    scaling: float

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
        layout = self.sparse.layout
        cache = past_key_values if isinstance(past_key_values, SparseCrossCache) else None
        documents = layout.documents if layout is not None else rows
        if rows % documents or (rows != documents and not self.sparse.generating):
            raise InputError(
                f"expected a layout of {rows} documents, or of one for every several beams, got one of {documents}"
            )
        beams = rows // documents
        if layout is not None and layout.owner.shape[1] != key_value_states.shape[1]:
            raise InputError(
                f"expected a layout of {key_value_states.shape[1]} tokens as the encoder's, got one of "
                f"{layout.owner.shape[1]}; make it from the same encoding"
            )
        queries = self._queries(hidden_states, documents, beams)
        weights = None
        state = self.sparse
        recorded = state.observer is not None or output_attentions or self._eager or state.by_attention is not None
        one_step = steps == 1 and not torch.is_grad_enabled() and not recorded
        if layout is None or (self._reads_all(layout) and not recorded) or (one_step and all(self._whole(layout))):
            mixed = self._dense(
                queries, self._documents(key_value_states, cache, beams), self._padding(attention_mask, layout)
            )
        elif one_step:
            few = self._reads_states(layout, beams)
            mixed = self._one_step(queries, self._cached(key_value_states, cache, beams, few=few), layout)
        else:
            mixed, weights = self._observed(queries, self._documents(key_value_states, cache, beams), layout)
        # (documents, heads, beams * steps, head_size) -> (rows, steps, width)
        mixed = mixed.transpose(1, 2).reshape(documents, beams, steps, width).reshape(rows, steps, width)
        output = self.out_proj(mixed)  # type: ignore[operator]
        return (output, weights, past_key_values)[: self.outputs]

    @property
    def _eager(self) -> bool:
        """Whether the model was loaded with eager attention, which returns attention weights."""
        return getattr(getattr(self, "config", None), "_attn_implementation", None) == "eager"

    @property
    def shape(self) -> AttentionShape:
        """Sizes of the layer."""
        return AttentionShape(self.embed_dim, self.num_heads, self.head_dim)  # type: ignore[arg-type]

    def _queries(self, hidden: Tensor, documents: int, beams: int) -> _Queries:
        steps, width = hidden.shape[1:]
        grouped = hidden.reshape(documents, beams * steps, width)
        unscaled = self._split_heads(self.q_proj(grouped)).transpose(1, 2)  # type: ignore[operator]
        return _Queries(Queries(grouped, unscaled * self.scaling), unscaled, beams, steps)

    def _split_heads(self, states: Tensor) -> Tensor:
        return torch.unflatten(states, -1, (self.shape.heads, self.shape.head_size))

    def _documents(self, states: Tensor, cache: SparseCrossCache | None, beams: int) -> LayerDocuments:
        """Return the documents' keys and values."""
        found = self._cached(states, cache, beams, few=False)
        assert isinstance(found, LayerDocuments)
        return found

    def _cached(
        self, states: Tensor, cache: SparseCrossCache | None, beams: int, *, few: bool
    ) -> LayerDocuments | StateDocuments:
        """Return the documents' keys and values; if `few` sentences are read, perhaps their states instead."""
        layer = int(self.layer_idx)  # type: ignore[arg-type]
        cached = cache.documents.get(layer) if cache is not None else None
        layout = self.sparse.layout
        if cached is not None and cached.layout is layout and (few or isinstance(cached, LayerDocuments)):
            return cached
        if layout is None:
            states = states[::beams]
            found: LayerDocuments | StateDocuments
            found = LayerDocuments(None, self._keys(states), self._values(states), ())
        else:
            found = self._projected(states, layout, beams, few=few and cache is not None)
        if cache is not None:
            cache.documents[layer] = found
            cache.is_updated[layer] = True
        return found

    def _projected(
        self, states: Tensor, layout: SentenceLayout, beams: int, *, few: bool
    ) -> LayerDocuments | StateDocuments:
        # Layers run in order: layer 0 is the first of a pass.
        memo = self.sparse.shared(states, first=bool(self.layer_idx == 0))
        if STATES not in memo:
            # All beams of a document have the same encoder states; keep one copy.
            memo[STATES] = states[::beams].contiguous()
        source = EncodedTokens(memo[STATES], layout, self._keys, memo)
        summary = self.selector.summarise(source) if self.selector is not None else ()
        if few and not source.has_keys and _is_plain(self.k_proj) and _is_plain(self.v_proj):
            return StateDocuments.of(layout, source.states, summary, self.shape.heads, self.k_proj, self.v_proj)
        return LayerDocuments(layout, source.keys, self._values(source.states), summary)

    def _keys(self, states: Tensor) -> Tensor:
        # Each head's tokens contiguous in memory: the fastest layout for attention to all of them, by measurement.
        return self._split_heads(self.k_proj(states)).transpose(-3, -2).contiguous()  # type: ignore[operator]

    def _values(self, states: Tensor) -> Tensor:
        return self._split_heads(self.v_proj(states)).transpose(-3, -2).contiguous()  # type: ignore[operator]

    def _reads_all(self, layout: SentenceLayout) -> bool:
        r = self.sparse.r
        return self.selector is None or r is None or r >= layout.starts.shape[1]

    def _padding(self, given: Tensor | None, layout: SentenceLayout | None) -> Tensor | None:
        """Return the padding mask of full attention, from the layout if there is one."""
        if layout is not None:
            return None if bool((layout.owner >= 0).all()) else (layout.owner >= 0)[:, None, None, :]
        if given is None:
            return None
        if not isinstance(given, Tensor) or given.dim() != 4:
            raise InputError(
                "expected the attention mask of attn_implementation 'sdpa' or 'eager', got another's; load the model "
                "with one of them"
            )
        return given[:, :, :1]

    def _dense(self, queries: _Queries, kept: LayerDocuments, mask: Tensor | None) -> Tensor:
        """Return full attention `(documents, heads, queries, head_size)` to all unmasked tokens."""
        dropout = float(self.dropout) if self.training else 0.0  # type: ignore[arg-type]
        return torch.nn.functional.scaled_dot_product_attention(
            queries.unscaled, kept.keys, kept.values, attn_mask=mask, dropout_p=dropout, scale=float(self.scaling)
        )

    def _selected(
        self,
        queries: _Queries,
        kept: LayerDocuments | StateDocuments,
        layout: SentenceLayout,
        alpha: Tensor | None = None,
    ) -> Tensor:
        """Return the top `r` sentences `(documents, queries or steps, r)`, -1 for missing ones.

        Ranked by `alpha` where it is given, otherwise by the selector.
        """
        assert self.selector is not None and self.sparse.r is not None
        if alpha is None:
            scores = self.selector.scores(queries.scaled, kept.summary, layout)
        elif bool(self.sparse.by_attention.all()):  # type: ignore[union-attr]
            scores = alpha.mean(dim=1)
        else:
            selected = self.selector.scores(queries.scaled, kept.summary, layout)
            scores = torch.where(self.sparse.by_attention[:, None, None], alpha.mean(dim=1), selected)  # type: ignore[index]
        if self.sparse.share_beams:
            scores = torch.unflatten(scores, 1, (queries.beams, queries.steps)).mean(dim=1)
        scores = scores.masked_fill(~layout.mask[:, None, :], float("-inf"))
        best = scores.topk(min(self.sparse.r, scores.shape[-1]), dim=-1)
        return best.indices.masked_fill(best.values == float("-inf"), -1)

    def _observed(self, queries: _Queries, kept: LayerDocuments, layout: SentenceLayout) -> tuple[Tensor, Tensor]:
        """Return attention to the selected sentences and its weights, for training and analyses."""
        products = queries.unscaled @ kept.keys.transpose(2, 3) * self.scaling
        products = products.masked_fill((layout.owner < 0)[:, None, None, :], float("-inf"))
        predicted = alpha = None
        by_attention = self.sparse.by_attention is not None
        if self.sparse.observer is not None or by_attention:
            alpha = layout.sums(torch.softmax(products, dim=-1))
        if self._reads_all(layout):
            read = layout.mask[:, None, :].expand(-1, products.shape[2], -1)
        else:
            read = self._read(queries, kept, layout, alpha if by_attention else None)
        if self.sparse.observer is not None and alpha is not None:
            if self.selector is not None:
                predicted = self.selector.log_probabilities(queries.scaled, kept.summary, layout)
            self.sparse.observer(Observation(int(self.layer_idx), alpha, predicted, read))  # type: ignore[arg-type]
        tokens = layout.spread(read.to(products.dtype)) > 0
        weights = torch.softmax(products.masked_fill(~tokens[:, None], float("-inf")), dim=-1)
        dropped = torch.nn.functional.dropout(weights, float(self.dropout), self.training)  # type: ignore[arg-type]
        mixed = dropped @ kept.values
        rows = queries.scaled.hidden.shape[0] * queries.beams
        by_row = torch.unflatten(weights, 2, (queries.beams, queries.steps)).transpose(1, 2)
        return mixed, by_row.reshape(rows, weights.shape[1], queries.steps, weights.shape[3])

    def _read(
        self, queries: _Queries, kept: LayerDocuments | StateDocuments, layout: SentenceLayout, alpha: Tensor | None
    ) -> Tensor:
        """Return `(documents, queries, sentences)`: true for sentences that a query reads."""
        with torch.no_grad():
            selected = self._selected(queries, kept, layout, alpha)
        read = torch.zeros(*selected.shape[:2], layout.starts.shape[1] + 1, dtype=torch.bool, device=selected.device)
        # Index -1 becomes the column after the last sentence, which is dropped.
        read = read.scatter(-1, selected % (layout.starts.shape[1] + 1), value=True)[..., :-1]
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
        return layout.owner.device.type == "cpu" and states_are_cheaper(sentences, read, self.shape.head_size, beams)

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
