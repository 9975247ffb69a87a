"""A tokenizer of whole words, and vectors for them."""

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
# Around each sentence of a summary, where it has tags (OpenNMT's data of CNN/DailyMail).
OPEN, CLOSE = TAGS = "<t>", "</t>"
# Numbers become this word.
NUMBER = "#"


def make_word_tokenizer(
    texts: Iterable[str], vocabulary: int, *, lowercase: bool, merge_numbers: bool = True, tags: bool = False
) -> Any:
    """Return a fast tokenizer of the most frequent words of texts; punctuation marks are words.

    The unknown word is no special token, so that it is seen in summaries.

    Args:
        texts: The texts.
        vocabulary: Number of words, with the special ones.
        lowercase: Whether words are lowercased.
        merge_numbers: Whether all numbers are one word.
        tags: Whether there are `TAGS`, which are special tokens.
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
    # Of equally frequent words the first by alphabet.
    frequent = sorted(counts, key=lambda word: (-counts[word], word))
    words = [*special, *(word for word in frequent if word not in special)][:vocabulary]
    plain = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token=UNKNOWN))
    plain.normalizer, plain.pre_tokenizer = normalizer, splitter
    plain.add_special_tokens([word for word in special if word != UNKNOWN])
    plain.post_processor = TemplateProcessing(single=f"$A {END}", special_tokens=[(END, words.index(END))])
    fast: Any = PreTrainedTokenizerFast
    return fast(tokenizer_object=plain, pad_token=PAD, bos_token=BEGIN, eos_token=END)


def check_words(model: str, vocabulary: int, tokenizer: Any, *, lowercase: bool) -> None:
    """Check the words of a recipe, of which its default may stand, against the tokenizer of the model it starts from.

    Raises:
        InputError: Fewer words than the model has, or lowercasing that it does not do or does.
    """
    normalizer = tokenizer.backend_tokenizer.normalizer
    lowercased = normalizer is not None and normalizer.normalize_str("A") == "a"
    check_kept(model, {"lowercase": lowercase}, {"lowercase": LOWERCASE}, {"lowercase": lowercased})
    if vocabulary != WORDS and vocabulary < len(tokenizer):
        raise InputError(f"vocabulary: expected at least the {len(tokenizer)} words of {model}, got {vocabulary}")


def read_vectors(path: Path, words: dict[str, int], size: int) -> tuple[Tensor, Tensor]:
    """Return the indices `(found,)` of words in a file of word vectors, and their vectors `(found, size)`.

    The file has the text format of word2vec: a word and its numbers in each line, perhaps after a line with both sizes.

    Raises:
        InputError: No such file, vectors of another size, or none of the words.
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
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: expected word vectors as text in UTF-8, got {error}") from error
    if not indices:
        raise InputError(f"{path}: expected vectors of words of the training texts, got none of them")
    return torch.tensor(indices), torch.tensor(vectors)
