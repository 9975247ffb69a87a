"""Cross-attention that reads some sentences of each document only (Manakul and Gales 2021, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from discsum.abstractive.cache import LayerDocuments, SparseCrossCache
from discsum.abstractive.layout import SentenceLayout
from discsum.abstractive.selectors.base import AttentionShape, Queries, Selector, Source
from discsum.errors import InputError

# Reading a token that was selected costs as much as so many that are read in their place, by measurement
# (tests/benchmarks/sparse_decoder.py); beyond it all tokens are read.
GATHERED = 3.0


@dataclass(frozen=True, eq=False)
class Observation:
    """What one layer did in one forward pass, for losses and analyses.

    Attributes:
        layer: Its number.
        attention: `(documents, heads, queries, sentences)` `alpha^s`: what full attention gives each sentence (Eq 4).
        predicted: `(documents, heads or 1, queries, sentences)` log probabilities of the selector; none without one.
        kept: `(documents, queries, sentences)` the sentences that were read.
    """

    layer: int
    attention: Tensor
    predicted: Tensor | None
    kept: Tensor


@dataclass(eq=False)
class SparseState:
    """What the cross-attentions of one model share.

    Attributes:
        r: Sentences that a query reads; none for all of them.
        share_beams: Whether the beams of a document read the same sentences, by their mean score.
        dense_where_faster: Whether single steps read all sentences where that costs less than selecting.
        layout: The sentences of the documents at hand.
        by_attention: Whether sentences are selected by attention itself, as `ideal` does, whatever the selector says.
        observer: Takes what each layer did, where somebody looks on; all attention is then computed.
    """

    r: int | None
    share_beams: bool = True
    dense_where_faster: bool = True
    layout: SentenceLayout | None = None
    by_attention: bool = False
    observer: Callable[[Observation], None] | None = None


@dataclass(frozen=True, eq=False)
class _Asked:
    """Queries of some rows, by document, and the mask that came with them."""

    queries: Queries
    beams: int
    steps: int
    padding: Tensor | None


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
        if rows % documents:
            raise InputError(f"expected as many beams for each of {documents} documents, got {rows} rows in all")
        beams = rows // documents
        if layout is not None and layout.owner.shape[1] != key_value_states.shape[1]:
            raise InputError(
                f"expected a layout of {key_value_states.shape[1]} tokens as the encoder's, got one of "
                f"{layout.owner.shape[1]}; make it from the same encoding"
            )
        kept = self._documents(key_value_states, cache, beams)
        padding = attention_mask[::beams] if attention_mask is not None else None
        asked = _Asked(self._queries(hidden_states, documents, beams), beams, steps, padding)
        weights = None
        looked_on = self.sparse.observer is not None or output_attentions or self._eager or self.sparse.by_attention
        if layout is None or (self._reads_all(layout) and not looked_on):
            mixed = self._dense(asked, kept, self._padding(asked, layout))
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
        keys, values = self._parted(self.k_proj(own)), self._parted(self.v_proj(own))  # type: ignore[operator]
        summary: tuple[Tensor, ...] = ()
        if self.selector is not None and self.sparse.layout is not None:
            summary = self.selector.summarise(Source(own, keys.transpose(1, 2), self.sparse.layout))
        made = LayerDocuments(keys, values, summary)
        if cache is not None:
            cache.documents[layer] = made
            cache.is_updated[layer] = True
        return made

    def _reads_all(self, layout: SentenceLayout) -> bool:
        r = self.sparse.r
        return self.selector is None or r is None or r >= layout.starts.shape[1]

    def _padding(self, asked: _Asked, layout: SentenceLayout | None) -> Tensor | None:
        if asked.padding is not None:
            return asked.padding[:, :, :1]
        if layout is None or bool((layout.owner >= 0).all()):
            return None
        return (layout.owner >= 0)[:, None, None, :]

    def _dense(self, asked: _Asked, kept: LayerDocuments, mask: Tensor | None) -> Tensor:
        """Return `(documents, heads, queries, head_size)` of attention to all tokens that the mask lets through."""
        dropout = float(self.dropout) if self.training else 0.0  # type: ignore[arg-type]
        return torch.nn.functional.scaled_dot_product_attention(
            asked.queries.projected,
            kept.keys.transpose(1, 2),
            kept.values.transpose(1, 2),
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
        scores = alpha.mean(dim=1) if alpha is not None else self.selector.scores(asked.queries, kept.summary, layout)
        if self.sparse.share_beams:
            scores = torch.unflatten(scores, 1, (asked.beams, asked.steps)).mean(dim=1)
        scores = scores.masked_fill(~layout.mask[:, None, :], float("-inf"))
        best = scores.topk(min(self.sparse.r, scores.shape[-1]), dim=-1)
        return best.indices.masked_fill(best.values == float("-inf"), -1)

    def _observed(self, asked: _Asked, kept: LayerDocuments, layout: SentenceLayout) -> tuple[Tensor, Tensor]:
        """Return attention to the selected sentences with all of its weights, and those, as training needs them."""
        products = asked.queries.projected @ kept.keys.permute(0, 2, 3, 1)
        products = products.masked_fill((layout.owner < 0)[:, None, None, :], float("-inf"))
        predicted = alpha = None
        if self.sparse.observer is not None or self.sparse.by_attention:
            alpha = layout.sums(torch.softmax(products, dim=-1))
        if self._reads_all(layout):
            read = layout.mask[:, None, :].expand(-1, products.shape[2], -1)
        else:
            read = self._read(asked, kept, layout, alpha if self.sparse.by_attention else None)
        if self.sparse.observer is not None and alpha is not None:
            if self.selector is not None:
                predicted = self.selector.log_probabilities(asked.queries, kept.summary, layout)
            self.sparse.observer(Observation(int(self.layer_idx), alpha, predicted, read))  # type: ignore[arg-type]
        tokens = layout.spread(read.to(products.dtype)) > 0
        weights = torch.softmax(products.masked_fill(~tokens[:, None], float("-inf")), dim=-1)
        dropped = torch.nn.functional.dropout(weights, float(self.dropout), self.training)  # type: ignore[arg-type]
        mixed = dropped @ kept.values.transpose(1, 2)
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
        """Return attention of one step of every beam to the selected sentences, whose tokens alone are read."""
        if self.sparse.dense_where_faster and (self.sparse.r or 0) * GATHERED > layout.starts.shape[1]:
            return self._dense(asked, kept, self._padding(asked, layout))
        chosen = self._selected(asked, kept, layout).tolist()
        starts, lengths = layout.starts.tolist(), layout.lengths.tolist()
        mixed = torch.empty_like(asked.queries.projected)
        for document, groups in enumerate(chosen):
            for place, group in enumerate(groups):
                spans = sorted((starts[document][one], lengths[document][one]) for one in group if one >= 0)
                queries = slice(None) if self.sparse.share_beams else slice(place, place + 1)
                keys, values = (
                    torch.cat([part[document, start : start + length] for start, length in spans]).transpose(0, 1)
                    for part in (kept.keys, kept.values)
                )
                mixed[document, :, queries] = torch.nn.functional.scaled_dot_product_attention(
                    asked.queries.projected[document, :, queries], keys, values, scale=1.0
                )
        return mixed
