"""Parameters of models with each head, as the paper prints them."""

import pytest

from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig

DEFAULT = {"key_size": 64, "value_size": 64, "inner": 3072}
BALANCED = {"key_size": 512, "value_size": 512, "inner": 512}
TREES = ("d_tree", "c_tree", "c_tree_nuc")
# Xiao et al. 2020, tables 2 and 3: millions of parameters of the attention and of the whole model, without BERT. The
# paper rounds its largest model to a whole number.
PRINTED = [
    ("dot_product", 8, DEFAULT, 3.2, 12.7),
    ("dot_product", 1, DEFAULT, 0.4, 9.9),
    ("dense", 1, DEFAULT, 1.5, 11.0),
    ("learned_random", 1, DEFAULT, 0.7, 10.3),
    *((head, 1, DEFAULT, 0.2, 9.7) for head in ("fixed_random", "none", *TREES)),
    ("dot_product", 8, BALANCED, 25.2, 27),
    ("dot_product", 1, BALANCED, 3.2, 4.8),
    ("dense", 1, BALANCED, 2.9, 4.5),
    ("learned_random", 1, BALANCED, 2.1, 3.8),
    *((head, 1, BALANCED, 1.6, 3.2) for head in ("fixed_random", "none", *TREES)),
]


@pytest.mark.parametrize(("head", "heads", "setting", "attention", "whole"), PRINTED)
def test_parameters_as_the_paper_prints_them(head, heads, setting, attention, whole):
    count = Synthesizer(SynthesizerConfig(head, 768, heads=heads, **setting)).parameter_count()
    assert round(count.attention / 1e6, 1) == attention
    assert round(count.whole / 1e6, 0 if isinstance(whole, int) else 1) == whole
