"""Texts to be restored: with masked spans, or also in another order (Lewis et al. 2020, section 2.2)."""

from __future__ import annotations

import numpy as np

from discsum.document import Document, Span

# BART's own: of the words, by spans of so many words in the mean.
MASKED, SPAN = 0.3, 3.0


def noised(
    document: Document, words: int, mask: str, random: np.random.Generator, *, shuffle: bool
) -> tuple[Document, str]:
    """Return some consecutive sentences masked and perhaps shuffled, and how they stood.

    Args:
        document: With its sentences.
        words: About how many words are taken; at least one sentence is.
        mask: What stands for a masked span.
        random: Where chance comes from.
        shuffle: Whether the sentences come in another order.

    Returns:
        A document of these sentences, which holds no tree, and the text to be restored.
    """
    texts = [" ".join(text.split()) for text in document.sentence_texts]
    lengths = np.array([len(text.split()) for text in texts])
    # Any sentence may be the first from which on there are enough words.
    enough = np.flatnonzero(np.cumsum(lengths[::-1])[::-1] >= words)
    first = int(random.integers(len(enough))) if len(enough) else 0
    taken = 1 + int(np.searchsorted(np.cumsum(lengths[first:]), words, side="right"))
    chosen = texts[first : first + taken]
    order = random.permutation(len(chosen)) if shuffle else range(len(chosen))
    parts = [_masked(chosen[place], mask, random) for place in order]
    ends = np.cumsum([len(part) + 1 for part in parts])
    sentences = tuple(Span(int(end) - 1 - len(part), int(end) - 1) for part, end in zip(parts, ends, strict=True))
    return Document(" ".join(parts), sentences, id=document.id), " ".join(chosen)


def _masked(text: str, mask: str, random: np.random.Generator) -> str:
    """Return a sentence some of whose spans of words became one mask each."""
    words: list[str] = []
    rest = text.split()
    while rest:
        if random.random() < MASKED / SPAN:
            words.append(mask)
            rest = rest[int(random.poisson(SPAN)) :]
        if rest:
            words.append(rest.pop(0))
    return " ".join(words)
