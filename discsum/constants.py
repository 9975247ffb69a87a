"""Names that commands, models and recipes share; nothing heavy, so that the command line may import it."""

from __future__ import annotations

SHIPPED_PARSER = "discsum-gum"
UNITS = ("sentence", "edu")
# Units of a summary unless told otherwise, as in Xiao et al. 2020.
DEFAULT_UNITS = {"sentence": 3, "edu": 6}
# Beams of the search for an abstractive summary.
BEAMS = 4
# Where sentences come from: the parser, NLTK, or one a line.
SENTENCES = ("model", "nltk", "newline")
# What names on the Hugging Face hub begin with; without it nothing is fetched.
HUB = "hf:"
# Unit vectors: pooled from the parser's one encoding of the whole text; with its states of EDUs beside them; or the
# first token's state of each unit encoded on its own by the parser's encoder.
CONTEXTUAL, DISCOURSE, ISOLATED = "contextual", "discourse", "isolated"
VECTORS = (CONTEXTUAL, DISCOURSE, ISOLATED)
