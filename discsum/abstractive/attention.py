"""Cross-attention that reads some sentences of each document only (Manakul and Gales 2021, sections 4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from discsum.abstractive.cache import LayerDocuments, SparseCrossCache
from discsum.abstractive.layout import SentenceLayout
from discsum.abstractive.selectors.base import AttentionShape, Queries, Selector, Source
from discsum.abstractive.state import Observation, SparseState
from discsum.errors import InputError

# Selecting r sentences and reading them costs a CPU as much as reading (r + SELECTING) * GATHERED of them in place, by
# measurement (tests/benchmarks/sparse_decoder.py); a document of fewer is read whole.
GATHERED, SELECTING = 3.0, 2


@dataclass(frozen=True, eq=False)
class _Asked:
    """Queries of some rows, by document."""

    queries: Queries
    beams: int
    steps: int


class SentenceSparseCrossAttention(nn.Module):
    """A mixin over an attention class of transformers, whose projections it uses; see `sparsify`."""

    sparse: SparseState
    selector: Selector | None
    outputs: int

    def forward(
        self,
        hidden_states: Tensor,
        key_value_states: Tensor | None = None,
        past_key_values: Any = None,
        attention_mask: Tensor | None = None,
        output_attentions: bool = False,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Return `(rows, steps, width)`, attention weights where somebody looks on, and for some models the cache."""
        assert key_value_states is not None, "cross-attention has encoder states"
        rows, steps, width = hidden_states.shape
        layout = self.sparse.layout
        cache = past_key_values if isinstance(past_key_values, SparseCrossCache) else None
        documents = layout.documents if layout is not None else rows
        if rows % documents or (rows != documents and not self.sparse.generating):
            raise InputError(
                f"expected a layout of {rows} documents, or as many beams for each of them, got one of {documents}"
            )
        beams = rows // documents
        if layout is not None and layout.owner.shape[1] != key_value_states.shape[1]:
            raise InputError(
                f"expected a layout of {key_value_states.shape[1]} tokens as the encoder's, got one of "
                f"{layout.owner.shape[1]}; make it from the same encoding"
            )
        kept = self._documents(key_value_states, cache, beams)
        asked = _Asked(self._queries(hidden_states, documents, beams), beams, steps)
        weights = None
        state = self.sparse
        looked_on = state.observer is not None or output_attentions or self._eager or state.by_attention is not None
        if layout is None or (self._reads_all(layout) and not looked_on):
            mixed = self._dense(asked, kept, self._padding(attention_mask, layout))
        elif steps == 1 and not torch.is_grad_enabled() and not looked_on:
            mixed = self._one_step(asked, kept, layout)
        else:
            mixed, weights = self._observed(asked, kept, layout)
        # (documents, heads, beams * steps, head_size) -> (rows, steps, width)
        mixed = mixed.transpose(1, 2).reshape(documents, beams, steps, width).reshape(rows, steps, width)
        output = self.out_proj(mixed)  # type: ignore[operator]
        return (output, weights, past_key_values)[: self.outputs]

    @property
    def _eager(self) -> bool:
        """Whether the model was loaded to give attention weights, which transformers calls eager."""
        return getattr(getattr(self, "config", None), "_attn_implementation", None) == "eager"

    @property
    def shape(self) -> AttentionShape:
        """Its sizes."""
        return AttentionShape(self.embed_dim, self.num_heads, self.head_dim)  # type: ignore[arg-type]

    def _queries(self, hidden: Tensor, documents: int, beams: int) -> Queries:
        steps, width = hidden.shape[1:]
        own = hidden.reshape(documents, beams * steps, width)
        projected = self.q_proj(own) * self.scaling  # type: ignore[operator]
        return Queries(own, self._parted(projected).transpose(1, 2))

    def _parted(self, states: Tensor) -> Tensor:
        return torch.unflatten(states, -1, (self.shape.heads, self.shape.head_size))

    def _documents(self, states: Tensor, cache: SparseCrossCache | None, beams: int) -> LayerDocuments:
        layer = int(self.layer_idx)  # type: ignore[arg-type]
        if cache is not None and layer in cache.documents:
            return cache.documents[layer]
        # The beams of a document have the same encoder states: one of them is enough.
        own = states[::beams]
        # Each head's tokens in one stretch: by measurement what attention to all of them reads fastest.
        projections: Any = self.k_proj, self.v_proj
        keys, values = (self._parted(project(own)).transpose(1, 2).contiguous() for project in projections)
        summary: tuple[Tensor, ...] = ()
        if self.selector is not None and self.sparse.layout is not None:
            memo = self.sparse.shared(states)
            summary = self.selector.summarise(Source(own, keys, self.sparse.layout, memo))
        made = LayerDocuments(keys, values, summary)
        if cache is not None:
            cache.documents[layer] = made
            cache.is_updated[layer] = True
        return made

    def _reads_all(self, layout: SentenceLayout) -> bool:
        r = self.sparse.r
        return self.selector is None or r is None or r >= layout.starts.shape[1]

    def _padding(self, given: Tensor | None, layout: SentenceLayout | None) -> Tensor | None:
        """Return the mask of attention to all tokens, by the layout where there is one."""
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

    def _dense(self, asked: _Asked, kept: LayerDocuments, mask: Tensor | None) -> Tensor:
        """Return `(documents, heads, queries, head_size)` of attention to all tokens that the mask lets through."""
        dropout = float(self.dropout) if self.training else 0.0  # type: ignore[arg-type]
        return torch.nn.functional.scaled_dot_product_attention(
            asked.queries.projected,
            kept.keys,
            kept.values,
            attn_mask=mask,
            dropout_p=dropout,
            scale=1.0,
        )

    def _selected(
        self, asked: _Asked, kept: LayerDocuments, layout: SentenceLayout, alpha: Tensor | None = None
    ) -> Tensor:
        """Return `(documents, queries or 1 a step, r)` the sentences of the best scores, -1 where there are fewer.

        Scores are those of `alpha` where that is given, the selector's otherwise.
        """
        assert self.selector is not None and self.sparse.r is not None
        if alpha is None:
            scores = self.selector.scores(asked.queries, kept.summary, layout)
        elif bool(self.sparse.by_attention.all()):  # type: ignore[union-attr]
            scores = alpha.mean(dim=1)
        else:
            own = self.selector.scores(asked.queries, kept.summary, layout)
            scores = torch.where(self.sparse.by_attention[:, None, None], alpha.mean(dim=1), own)  # type: ignore[index]
        if self.sparse.share_beams:
            scores = torch.unflatten(scores, 1, (asked.beams, asked.steps)).mean(dim=1)
        scores = scores.masked_fill(~layout.mask[:, None, :], float("-inf"))
        best = scores.topk(min(self.sparse.r, scores.shape[-1]), dim=-1)
        return best.indices.masked_fill(best.values == float("-inf"), -1)

    def _observed(self, asked: _Asked, kept: LayerDocuments, layout: SentenceLayout) -> tuple[Tensor, Tensor]:
        """Return attention to the selected sentences with all of its weights, and those, as training needs them."""
        products = asked.queries.projected @ kept.keys.transpose(2, 3)
        products = products.masked_fill((layout.owner < 0)[:, None, None, :], float("-inf"))
        predicted = alpha = None
        by_attention = self.sparse.by_attention is not None
        if self.sparse.observer is not None or by_attention:
            alpha = layout.sums(torch.softmax(products, dim=-1))
        if self._reads_all(layout):
            read = layout.mask[:, None, :].expand(-1, products.shape[2], -1)
        else:
            read = self._read(asked, kept, layout, alpha if by_attention else None)
        if self.sparse.observer is not None and alpha is not None:
            if self.selector is not None:
                predicted = self.selector.log_probabilities(asked.queries, kept.summary, layout)
            self.sparse.observer(Observation(int(self.layer_idx), alpha, predicted, read))  # type: ignore[arg-type]
        tokens = layout.spread(read.to(products.dtype)) > 0
        weights = torch.softmax(products.masked_fill(~tokens[:, None], float("-inf")), dim=-1)
        dropped = torch.nn.functional.dropout(weights, float(self.dropout), self.training)  # type: ignore[arg-type]
        mixed = dropped @ kept.values
        rows = asked.queries.hidden.shape[0] * asked.beams
        by_row = torch.unflatten(weights, 2, (asked.beams, asked.steps)).transpose(1, 2)
        return mixed, by_row.reshape(rows, weights.shape[1], asked.steps, weights.shape[3])

    def _read(self, asked: _Asked, kept: LayerDocuments, layout: SentenceLayout, alpha: Tensor | None) -> Tensor:
        """Return `(documents, queries, sentences)`, true for the sentences that a query reads."""
        with torch.no_grad():
            selected = self._selected(asked, kept, layout, alpha)
        read = torch.zeros(*selected.shape[:2], layout.starts.shape[1] + 1, dtype=torch.bool, device=selected.device)
        # Index -1 goes to the place after the last sentence, which is cut off.
        read = read.scatter(-1, selected % (layout.starts.shape[1] + 1), value=True)[..., :-1]
        return read.repeat(1, asked.beams, 1) if self.sparse.share_beams else read

    def _one_step(self, asked: _Asked, kept: LayerDocuments, layout: SentenceLayout) -> Tensor:
        """Return attention of one step of every beam to the selected sentences, whose tokens alone are read.

        Documents of so few sentences that selecting would cost more are read whole, whatever stands beside them.
        """
        starts, lengths, counts = layout.starts.tolist(), layout.lengths.tolist(), layout.counts.tolist()
        cost = ((self.sparse.r or 0) + SELECTING) * GATHERED
        whole = [self.sparse.dense_where_faster and cost > count for count in counts]
        if all(whole):
            return self._dense(asked, kept, self._padding(None, layout))
        chosen = self._selected(asked, kept, layout).tolist()
        mixed = torch.empty_like(asked.queries.projected)
        attend: Any = partial(torch.nn.functional.scaled_dot_product_attention, scale=1.0)
        for document, groups in enumerate(chosen):
            asks, parts = asked.queries.projected[document], (kept.keys[document], kept.values[document])
            first = starts[document]
            after = [start + length for start, length in zip(first, lengths[document], strict=True)]
            if whole[document]:
                mixed[document] = attend(asks, *(part[:, first[0] : max(after)] for part in parts))
                continue
            for place, group in enumerate(groups):
                queries = slice(None) if self.sparse.share_beams else slice(place, place + 1)
                spans = [torch.arange(first[one], after[one]) for one in sorted(group) if one >= 0]
                tokens = torch.cat(spans).to(mixed.device)
                mixed[document, :, queries] = attend(
                    asks[:, queries], *(part.index_select(1, tokens) for part in parts)
                )
        return mixed
