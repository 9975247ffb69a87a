"""Word tokenizers and word vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from discsum.abstractive.recipe import LOWERCASE, WORDS, check_kept
from discsum.errors import InputError

PAD, BEGIN, END, UNKNOWN = "<pad>", "<s>", "</s>", "<unk>"
# Tags around each sentence of a summary, as in OpenNMT's CNN/DailyMail data.
OPEN, CLOSE = TAGS = "<t>", "</t>"
# Word that replaces every number.
NUMBER = "#"


def make_word_tokenizer(
    texts: Iterable[str], vocabulary: int, *, lowercase: bool, merge_numbers: bool = True, tags: bool = False
) -> Any:
    """Return a fast tokenizer of the most frequent words of texts; punctuation marks are words.

    The unknown token is not a special token, so that it shows in decoded summaries.

    Args:
        texts: The texts.
        vocabulary: Maximum number of words, including special tokens.
        lowercase: Whether words are lowercased.
        merge_numbers: Whether `NUMBER` replaces all numbers.
        tags: Whether to add `TAGS` as special tokens.
    """
    from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers
    from tokenizers.models import WordLevel
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    numbers = [normalizers.Replace(Regex(r"\d+([.,]\d+)*"), NUMBER)] if merge_numbers else []
    normalizer = normalizers.Sequence([*([normalizers.Lowercase()] if lowercase else []), *numbers])
    splitter = pre_tokenizers.BertPreTokenizer()
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text)))
    special = [PAD, BEGIN, END, UNKNOWN, *(TAGS if tags else ())]
    # Ties are broken alphabetically.
    frequent = sorted(counts, key=lambda word: (-counts[word], word))
    words = [*special, *(word for word in frequent if word not in special)][:vocabulary]
    plain = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token=UNKNOWN))
    plain.normalizer, plain.pre_tokenizer = normalizer, splitter
    plain.add_special_tokens([word for word in special if word != UNKNOWN])
    plain.post_processor = TemplateProcessing(single=f"$A {END}", special_tokens=[(END, words.index(END))])
    fast: Any = PreTrainedTokenizerFast
    return fast(tokenizer_object=plain, pad_token=PAD, bos_token=BEGIN, eos_token=END)


def unknown_id(tokenizer: Any) -> int | None:
    """Return the id of the unknown token, which need not be a special token; None if the tokenizer has none."""
    backend = tokenizer.backend_tokenizer
    word = getattr(backend.model, "unk_token", None)
    found: int | None = None if word is None else backend.token_to_id(word)
    return found


def check_words(model: str, vocabulary: int, tokenizer: Any, *, lowercase: bool) -> None:
    """Check a recipe's vocabulary and lowercasing against the tokenizer of the model it starts from.

    Default values are always accepted.

    Raises:
        InputError: Fewer words than the model has, or lowercasing that differs from the model's.
    """
    normalizer = tokenizer.backend_tokenizer.normalizer
    lowercased = normalizer is not None and normalizer.normalize_str("A") == "a"
    check_kept(model, {"lowercase": lowercase}, {"lowercase": LOWERCASE}, {"lowercase": lowercased})
    if vocabulary != WORDS:
        check_size(model, "vocabulary", vocabulary, tokenizer)


def check_size(model: str, field: str, vocabulary: int, tokenizer: Any) -> None:
    """Raise `InputError` if a recipe's field asks for fewer words than the tokenizer of `model` has."""
    if vocabulary < len(tokenizer):
        raise InputError(f"{field}: expected at least the {len(tokenizer)} words of {model}, got {vocabulary}")


def read_vectors(path: Path, words: dict[str, int], size: int) -> tuple[Tensor, Tensor]:
    """Return the indices `(found,)` of the words that a file of word vectors has, and their vectors `(found, size)`.

    The file has word2vec's text format: a word and its numbers on each line, optionally after a line with both sizes.

    Raises:
        InputError: No such file, vectors of another size, or a file without any of the words.
    """
    indices, vectors = [], []
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                word, *values = line.rstrip().split(" ")
                if number == 1 and len(values) == 1:
                    continue
                if len(values) != size:
                    raise InputError(f"{path}, line {number}: expected a word and {size} numbers, got {len(values)}")
                if word in words:
                    indices.append(words[word])
                    vectors.append([float(value) for value in values])
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: expected word vectors as text in UTF-8, got {error}") from error
    if not indices:
        raise InputError(f"{path}: expected vectors for words of the training texts, found none")
    return torch.tensor(indices), torch.tensor(vectors)
