"""Constants that commands, models and recipes share; light, so that the command line can import it."""

from __future__ import annotations

import sys

SHIPPED_PARSER = "discsum-gum"
# Kinds of model folders.
PARSER_KIND, SUMMARIZER_KIND = "discsum-parser", "discsum-extractive"
UNITS = ("sentence", "edu")
# The same in the plural, as borders of blocks and as parts of a `SentenceLayout`.
BORDERS = ("sentences", "edus")
# Default length of a summary in units, as in Xiao et al. 2020.
DEFAULT_UNITS = {"sentence": 3, "edu": 6}
# Whether headings, bylines and the like are selected: skipped, or kept as in the papers' systems.
LAYOUTS = ("skip", "keep")
# Beams of the beam search for abstractive summaries.
BEAMS = 4
# Largest exponent of the length penalty, and largest weight of the coverage penalty. Beyond these, float32 scores would
# no longer depend on the probabilities of words.
LENGTH_PENALTIES, COVERAGE_PENALTIES = 10.0, 1000.0
# Sentence segmentation: by the parser, by NLTK, or one sentence per line.
SENTENCES = ("model", "nltk", "newline")
# EDU segmentation: by the parser, or one EDU per line.
EDUS = ("model", "newline")
# Numeric precisions of encoders, with the names of torch's types.
PRECISIONS = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}
# Prefix of names on the Hugging Face hub; nothing is fetched without it.
HUB = "hf:"
# The system that selects the labelled units.
ORACLE = "oracle"
# Unit vectors: pooled from the parser's encoding of the whole text; the same concatenated with its EDU states; or the
# first token's state of each unit encoded separately by the parser's encoder.
CONTEXTUAL, DISCOURSE, ISOLATED = "contextual", "discourse", "isolated"
VECTORS = (CONTEXTUAL, DISCOURSE, ISOLATED)
# How a tree file with several roots is read: roots are joined under the relation `UNATTACHED`, all but the largest are
# dropped, or the file is refused.
ROOTS = ("join", "drop", "error")
UNATTACHED = "unattached"
# Largest document that is read: a file, or a line or record of a table; some ten million words.
MAX_DOCUMENT_BYTES = 64 * 1024**2
# What that size can be raised to: Python reads no more bytes at once, and csv takes no larger limit.
READABLE_BYTES = sys.maxsize - 1
# Encoding of an input: what an XML file declares, UTF-8 otherwise.
DECLARED = "declared"
# Formats of input texts; `AUTO` chooses by the suffix of the file.
TEXT = "text"
INPUTS = (TEXT, "markdown", "html")
AUTO = "auto"
# Environment variable of the command line and its workers, whose standard output is for results alone.
COMMAND_LINE = "DISCSUM_COMMAND_LINE"
