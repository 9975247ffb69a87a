"""Choice of the path by which cross-attention reads its documents."""

from __future__ import annotations

from dataclasses import dataclass

from discsum.abstractive.sparse.calls import Call

FULL, SELECTED, MASKED = "full", "selected", "masked"
NO_LAYOUT = "no layout was given"
WEIGHTS = "attention weights were asked for"
NO_CACHE = "use_cache is off"
COVERED = "no document has more than r sentences"
# Reasons to warn about when a user asked for selected sentences.
WARNED = {
    NO_LAYOUT: "all sentences are read, because no layout was given; pass layout=..., the sentences of the inputs, to "
    "the model or to generate",
    COVERED: "r = {r}: all sentences are read, because no document has more than r",
    WEIGHTS: "sentences are selected, but no computation is saved: generate computes all attention because attention "
    "weights were asked for (attn_implementation='eager', or output_attentions)",
    NO_CACHE: "sentences are selected, but no computation is saved: generate computes all attention at each step "
    "because use_cache is off",
}


@dataclass(frozen=True)
class Path:
    """A way to read documents, as in `CallRecord.path`, and the reason for it."""

    name: str
    reason: str

    @property
    def warning(self) -> str | None:
        """Warning for a user who asked for selected sentences; None if there is nothing to warn about."""
        return WARNED.get(self.reason)


def choose_path(call: Call, steps: int, *, selects: bool, weights: bool, cached: bool, training: bool) -> Path:
    """Return the path of one layer's forward pass.

    Args:
        call: The call that it belongs to.
        steps: Number of tokens decoded at once.
        selects: Whether there is a selector.
        weights: Whether attention weights are asked for.
        cached: Whether keys and values are kept from step to step.
        training: Whether gradients may be computed.
    """
    layout = call.layout
    observed = call.observer is not None or call.by_attention is not None
    if layout is None:
        return Path(FULL, NO_LAYOUT if selects and call.r is not None else "no sentences are selected")
    if observed:
        return Path(MASKED, "attention is observed")
    if not selects or call.r is None:
        return Path(FULL, "no sentences are selected")
    if call.r >= layout.mask.shape[1]:
        return Path(FULL, COVERED)
    if training:
        return Path(MASKED, "gradients may be computed")
    if weights:
        return Path(MASKED, WEIGHTS if call.generating else "attention weights were asked for, outside of generate")
    if not cached and call.generating:
        return Path(MASKED, NO_CACHE)
    if steps > 1:
        return Path(MASKED, "several tokens are decoded at once")
    if all(call.whole(layout)):
        return Path(FULL, "reading all sentences is faster than selecting")
    return Path(SELECTED, "a single step")
