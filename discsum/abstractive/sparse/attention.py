"""Cross-attention that reads selected sentences of each document (Manakul and Gales 2021, sections 3 and 4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from discsum.abstractive.projections import Projections, decoder_cache
from discsum.abstractive.sparse.cache import DocumentCache, LayerDocuments, StateDocuments
from discsum.abstractive.sparse.calls import Call, CallRecord, Observation, SparseSettings
from discsum.abstractive.sparse.costs import states_are_cheaper
from discsum.abstractive.sparse.paths import FULL, SELECTED, Path, choose_path
from discsum.abstractive.sparse.selectors.base import EncodedTokens, Queries, Selector
from discsum.errors import InputError

# Key of the memo: encoder states, one copy per document.
STATES = "encoder states"


@dataclass(frozen=True, eq=False)
class _Queries:
    """Queries grouped by document, scaled and `unscaled` `(documents, heads, copies * steps, head_size)`.

    Stock attention takes unscaled ones; in half precision, scaling first would round twice.

    Attributes:
        copies: Number of rows of each document (beams or samples).
    """

    scaled: Queries
    unscaled: Tensor
    copies: int


@dataclass(eq=False)
class SparseCrossAttention:
    """Replacement for the forward pass of a cross-attention module, reading selected sentences; see `sparsify`.

    It uses the module's projections, which keep their names.

    Attributes:
        projections: The module's parts.
        settings: Settings of the model.
        layer: Number of the decoder layer.
    """

    projections: Projections
    settings: SparseSettings
    layer: int

    @property
    def selector(self) -> Selector | None:
        """The module's selector; None for full attention."""
        return getattr(self.projections.module, "selector", None)

    def __call__(self, hidden_states: Tensor, **given: Any) -> tuple[Any, ...]:
        """Return what the module's own forward pass returns, with attention weights if they are asked for."""
        names, module = self.projections.names, self.projections.module
        states: Tensor = given[names.states]
        call = self.settings.call
        rows, steps, width = hidden_states.shape
        documents = _count_documents(call, rows, states)
        copies = rows // documents
        grouped = hidden_states.reshape(documents, copies * steps, width)
        unscaled = self._heads(self.projections.query, grouped)
        queries = _Queries(Queries(grouped, unscaled * self.projections.scaling), unscaled, copies)
        # Eager attention returns attention weights.
        eager = getattr(getattr(module, "config", None), "_attn_implementation", None) == "eager"
        asked = eager or bool(given.get("output_attentions"))
        cache = DocumentCache.of(decoder_cache(given))
        path = choose_path(
            call,
            steps,
            selects=self.selector is not None,
            weights=asked,
            cached=cache is not None,
            training=torch.is_grad_enabled() or module.training,
        )
        if self.layer == 0:
            self._record(path, call)
        few = path.name == SELECTED and self._reads_states(call, copies)
        scored = self.selector is not None and (path.name != FULL or call.observer is not None)
        kept = self._documents(states, cache, call, copies, few=few, scored=scored)
        weights = None
        if path.name == SELECTED:
            mixed = self._one_step(queries, kept, call)
        elif path.name == FULL and not asked:
            mixed = self._full(queries, kept, _mask_of(call, given.get(names.mask)))
        else:
            mask = _mask_of(call, given.get(names.mask))
            mixed, weights = self._masked(queries, kept, call, mask, whole=path.name == FULL)
        # (documents, heads, copies * steps, head_size) -> (rows, steps, heads * head_size)
        result = self.projections.output(mixed.transpose(1, 2).reshape(rows, steps, -1))
        return names.outputs(result, weights, given)

    def _record(self, path: Path, call: Call) -> None:
        """Record what is read as the settings' `last`, and warn if it is not what was asked for."""
        if path.warning is not None:
            self.settings.warn_once(path.warning.format(r=call.r))
        if call.layout is None:
            self.settings.record(CallRecord(path.name, path.reason))
            return
        counts = tuple(map(len, call.layout.spans))
        if path.name == FULL or self.selector is None:
            read = counts
        else:
            # One step reads documents whole where that is faster; several steps at once select in every document.
            stepwise = call.generating or path.name == SELECTED
            read = tuple(map(call.read, counts)) if stepwise else tuple(min(call.r or n, n) for n in counts)
        self.settings.record(CallRecord(path.name, path.reason, counts, read))

    def _heads(self, projection: Any, states: Tensor) -> Tensor:
        return torch.unflatten(projection(states), -1, (self.projections.heads, -1)).transpose(-3, -2)

    def _tokens(self, projection: Any, states: Tensor) -> Tensor:
        # Make each head's tokens contiguous, which was measured to be the fastest memory layout for full attention.
        return self._heads(projection, states).contiguous()

    def _documents(
        self, states: Tensor, cache: DocumentCache | None, call: Call, copies: int, *, few: bool, scored: bool
    ) -> Any:
        """Return `LayerDocuments`, or `StateDocuments` if `few` sentences are read and the layer allows it.

        They have the selector's summary only if sentences are `scored`.
        """
        layout, key, value = call.layout, self.projections.key, self.projections.value
        found = cache.get(self.layer) if cache is not None else None
        if (
            found is not None
            and found.layout is layout
            and (few or isinstance(found, LayerDocuments))
            and (found.summary is not None or not scored)
        ):
            return found
        new: LayerDocuments | StateDocuments
        if layout is None:
            new = LayerDocuments(None, self._tokens(key, states), self._tokens(value, states))
        else:
            # Layers run in order: layer 0 is the first of a pass.
            memo = call.memo.of(states, first=self.layer == 0)
            if STATES not in memo:
                # All rows of a document have the same encoder states. Clone one copy, to free the memory of the others.
                memo[STATES] = states[::copies].clone() if copies > 1 else states
            source = EncodedTokens(memo[STATES], layout, partial(self._tokens, key), memo)
            summary = self.selector.summarise(source) if self.selector is not None and scored else None
            if few and not source.has_keys and _is_plain(key) and _is_plain(value):
                new = StateDocuments(layout, source.states, summary, key, value, self.projections.heads)
            else:
                new = LayerDocuments(layout, source.keys, self._tokens(value, source.states), summary)
        if cache is not None:
            cache.put(self.layer, new, copies)
        return new

    def _full(self, queries: _Queries, kept: LayerDocuments, mask: Tensor | None) -> Tensor:
        """Return full attention `(documents, heads, queries, head_size)`."""
        module = self.projections.module
        dropout = module.dropout if module.training else 0.0
        return torch.nn.functional.scaled_dot_product_attention(
            queries.unscaled, kept.keys, kept.values, attn_mask=mask, dropout_p=dropout, scale=self.projections.scaling
        )

    def _masked(
        self, queries: _Queries, kept: LayerDocuments, call: Call, mask: Tensor | None, *, whole: bool
    ) -> tuple[Tensor, Tensor]:
        """Return attention to the selected sentences, or to `whole` documents, and its weights, from all products."""
        module, layout = self.projections.module, call.layout
        products = queries.unscaled @ kept.keys.transpose(2, 3) * self.projections.scaling
        if mask is not None:
            products = products.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else products + mask
        if layout is not None:
            alpha = None
            if call.observer is not None or call.by_attention is not None:
                alpha = layout.sums(torch.softmax(products, dim=-1))
            if whole or self.selector is None or call.r is None or call.r >= layout.mask.shape[1]:
                read = layout.mask[:, None, :].expand(-1, products.shape[2], -1)
            else:
                read = self._read(queries, kept, call, alpha)
            if call.observer is not None and alpha is not None:
                self._observe(queries, kept, call, alpha, read)
            tokens = layout.spread(read.to(products.dtype)) > 0
            products = products.masked_fill(~tokens[:, None], float("-inf"))
        weights = torch.softmax(products, dim=-1)
        mixed = torch.nn.functional.dropout(weights, module.dropout, module.training) @ kept.values
        # (documents, heads, copies * steps, tokens) -> (rows, heads, steps, tokens)
        return mixed, torch.unflatten(weights, 2, (queries.copies, -1)).transpose(1, 2).flatten(0, 1)

    def _observe(self, queries: _Queries, kept: LayerDocuments, call: Call, alpha: Tensor, read: Tensor) -> None:
        assert call.observer is not None and call.layout is not None
        predicted = None
        if self.selector is not None:
            assert kept.summary is not None
            predicted = self.selector.log_probabilities(queries.scaled, kept.summary, call.layout)
        call.observer(Observation(self.layer, alpha, predicted, read))

    def _selected(
        self, queries: _Queries, kept: LayerDocuments | StateDocuments, call: Call, alpha: Tensor | None = None
    ) -> Tensor:
        """Return the top `r` sentences `(documents, queries or steps, r)`, -1 where there are fewer.

        The selector ranks them, or full attention `alpha` for the documents of `Call.by_attention`.
        """
        assert self.selector is not None and call.r is not None and call.layout is not None
        if alpha is not None and call.by_attention is not None and bool(call.by_attention.all()):
            scores = alpha.mean(dim=1)
        else:
            assert kept.summary is not None
            scores = self.selector.scores(queries.scaled, kept.summary, call.layout)
            if alpha is not None and call.by_attention is not None:
                scores = torch.where(call.by_attention[:, None, None], alpha.mean(dim=1), scores)
        if call.share_beams:
            scores = torch.unflatten(scores, 1, (queries.copies, -1)).mean(dim=1)
        scores = scores.masked_fill(~call.layout.mask[:, None, :], float("-inf"))
        best = scores.topk(min(call.r, scores.shape[-1]), dim=-1)
        return best.indices.masked_fill(best.values == float("-inf"), -1)

    @torch.no_grad()
    def _read(self, queries: _Queries, kept: LayerDocuments, call: Call, alpha: Tensor | None) -> Tensor:
        """Return `(documents, queries, sentences)`: true for sentences that a query reads."""
        assert call.layout is not None
        selected = self._selected(queries, kept, call, alpha)
        mask = call.layout.mask
        read = torch.zeros(*selected.shape[:2], mask.shape[1] + 1, dtype=torch.bool, device=selected.device)
        # Index -1 becomes the column after the last sentence, which is dropped.
        read = read.scatter(-1, selected % (mask.shape[1] + 1), value=True)[..., :-1]
        if call.generating:
            # A prompt reads the same sentences as the single steps after it.
            whole = torch.tensor(call.whole(call.layout), device=read.device)
            read = read | (whole[:, None, None] & mask[:, None, :])
        return read.repeat(1, queries.copies, 1) if call.share_beams else read

    def _reads_states(self, call: Call, copies: int) -> bool:
        """Return whether to read encoder states instead of keys and values; false on a GPU, where those are cheap."""
        assert call.layout is not None
        sentences = [len(spans) for spans in call.layout.spans]
        read = [call.read(count) for count in sentences]
        on_cpu = call.layout.owner.device.type == "cpu"
        return on_cpu and states_are_cheaper(sentences, read, self.projections.head_size, copies)

    def _one_step(self, queries: _Queries, kept: LayerDocuments | StateDocuments, call: Call) -> Tensor:
        """Return the attention of one step of every row to the tokens of its selected sentences.

        Documents with few sentences are read whole, independently of the rest of the batch.
        """
        layout, scaling = call.layout, self.projections.scaling
        assert layout is not None
        chosen = self._selected(queries, kept, call).tolist()
        mixed = torch.empty_like(queries.unscaled)
        for document, (groups, whole) in enumerate(zip(chosen, call.whole(layout), strict=True)):
            unscaled = queries.unscaled[document]
            if whole:
                spans = layout.spans[document]
                every = slice(spans[0][0], spans[-1][1])
                mixed[document] = kept.attend(unscaled, document, every, scaling)
                continue
            for place, group in enumerate(groups):
                rows = slice(None) if call.share_beams else slice(place, place + 1)
                tokens = layout.tokens(document, sorted(one for one in group if one >= 0))
                mixed[document, :, rows] = kept.attend(unscaled[:, rows], document, tokens, scaling)
        return mixed


def _count_documents(call: Call, rows: int, states: Tensor) -> int:
    """Return the number of documents of `rows` rows; check that the layout fits them and the encoder states."""
    layout = call.layout
    if layout is None:
        return rows
    if rows % layout.documents or (rows != layout.documents and not call.generating):
        raise InputError(
            f"expected a layout of {rows} documents, or of one for each group of beams, got one of {layout.documents}"
        )
    if layout.owner.shape[1] != states.shape[1]:
        raise InputError(
            f"expected a layout of {states.shape[1]} tokens, as many as the encoder's, got one of "
            f"{layout.owner.shape[1]}; make it from the same encoding"
        )
    return layout.documents


def _mask_of(call: Call, mask: Any) -> Tensor | None:
    """Return the padding mask `(rows or documents, 1, 1, tokens)`: the layout's if there is one, or the model's."""
    if call.layout is not None:
        return call.layout.inside
    if mask is None:
        return None
    if not isinstance(mask, Tensor) or mask.dim() != 4:
        raise InputError(
            "expected the attention mask of attn_implementation 'sdpa' or 'eager', got that of another; load the model "
            "with one of the two"
        )
    return mask[:, :, :1]


def _is_plain(module: Any) -> bool:
    """Return whether a module is a plain `nn.Linear`, without hooks, wrappers or a replaced forward."""
    hooks = module._forward_hooks or module._forward_pre_hooks
    return type(module) is nn.Linear and not hooks and "forward" not in vars(module)
