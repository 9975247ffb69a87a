"""Models with random weights of every family whose cross-attention can be made sparse."""

import torch
import transformers
from tiny_bart import SIZES, SPECIAL

BART = {
    **SIZES,
    "init_std": 0.4,
    **dict.fromkeys(("dropout", "activation_dropout", "attention_dropout"), 0.0),
    **dict.fromkeys(("encoder_layerdrop", "decoder_layerdrop"), 0.0),
    **SPECIAL,
}
# The heads together are wider than the states.
T5 = {
    "vocab_size": 60,
    "d_model": 32,
    "d_kv": 12,
    "d_ff": 32,
    "num_layers": 2,
    "num_heads": 4,
    "dropout_rate": 0.0,
    "initializer_factor": 6.0,
    **SPECIAL,
}
WITHOUT_POSITIONS = {name: value for name, value in BART.items() if name != "max_position_embeddings"}
LED = {"max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64, "attention_window": 8}
# Class name and sizes of each model.
FAMILIES = {
    "bart": ("BartForConditionalGeneration", BART),
    "bigbird_pegasus": ("BigBirdPegasusForConditionalGeneration", BART | {"attention_type": "original_full"}),
    "blenderbot": ("BlenderbotForConditionalGeneration", BART),
    "blenderbot_small": ("BlenderbotSmallForConditionalGeneration", BART),
    "flan-t5": ("T5ForConditionalGeneration", T5 | {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}),
    "led": ("LEDForConditionalGeneration", WITHOUT_POSITIONS | LED),
    "longt5": ("LongT5ForConditionalGeneration", T5 | {"local_radius": 4}),
    "m2m_100": ("M2M100ForConditionalGeneration", BART),
    "marian": ("MarianMTModel", BART),
    "mbart": ("MBartForConditionalGeneration", BART),
    "mt5": ("MT5ForConditionalGeneration", T5),
    "pegasus": ("PegasusForConditionalGeneration", BART),
    "pegasus_x": ("PegasusXForConditionalGeneration", BART | {"block_size": 8, "num_global_tokens": 2}),
    "plbart": ("PLBartForConditionalGeneration", BART),
    "t5": ("T5ForConditionalGeneration", T5),
    "umt5": ("UMT5ForConditionalGeneration", T5),
}


def make_model(family, **changes):
    """Return a model of a family, with the same random weights each time."""
    torch.manual_seed(3)
    name, sizes = FAMILIES[family]
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**sizes | changes)).eval()
    # Override the family's own defaults for generation.
    model.generation_config = transformers.GenerationConfig(**SPECIAL)
    return model
