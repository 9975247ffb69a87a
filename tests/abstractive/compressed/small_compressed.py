"""Inputs and weights for compressed encoders."""

import torch

# Families of `seq2seq_families` whose encoders lack plain attention, so they cannot be compressed.
OTHERS = ("bigbird_pegasus", "flan-t5", "led", "longt5", "mt5", "pegasus_x", "t5", "umt5")


def ids_of(tokens, rows=1):
    return torch.randint(3, 60, (rows, tokens), generator=torch.Generator().manual_seed(tokens))


def states(model, **inputs):
    with torch.no_grad():
        return model.get_encoder()(**inputs).last_hidden_state


def shuffle(model):
    """Perturb the weights of convolutions, as if they were trained."""
    torch.manual_seed(4)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if ".compression." in name:
                value.add_(torch.randn_like(value) * 0.2)
    return model


def used(variant, **settings):
    """Return the settings that a variant accepts."""
    unused = {"conv": ("blocks",), "conv_pool": ("blocks",), "strided": ("kernel", "groups")}.get(variant, ())
    return {name: value for name, value in settings.items() if name not in unused}
