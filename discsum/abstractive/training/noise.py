"""Noise of denoising pretraining: masked spans and shuffled sentences (Lewis et al. 2020, section 2.2)."""

from __future__ import annotations

import numpy as np

from discsum.document import Document, Span

# As BART: share of masked words, and mean words of a span.
MASKED, SPAN = 0.3, 3.0


def noised(
    document: Document, words: int, mask: str, random: np.random.Generator, *, shuffle: bool
) -> tuple[Document, str]:
    """Return a document of consecutive sentences, masked and perhaps shuffled, and their original text.

    Args:
        document: With sentences.
        words: Approximate number of words; at least one sentence is taken.
        mask: Token that replaces a masked span.
        random: Random generator.
        shuffle: Whether sentences are shuffled.
    """
    texts = [" ".join(text.split()) for text in document.sentence_texts]
    lengths = np.array([len(text.split()) for text in texts])
    # The first sentence is any that is followed by enough words.
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
    """Return a sentence with random spans of words replaced by one mask each."""
    words: list[str] = []
    rest = text.split()
    while rest:
        if random.random() < MASKED / SPAN:
            words.append(mask)
            rest = rest[int(random.poisson(SPAN)) :]
        if rest:
            words.append(rest.pop(0))
    return " ".join(words)
