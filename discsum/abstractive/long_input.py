"""BART for long texts: an encoder that attends within a window, as LoBART of Manakul and Gales 2021 (section 2)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from torch import Tensor

from discsum.abstractive.entry_points import conversions
from discsum.errors import InputError

# BART's tables of positions begin with rows that are not used.
_UNUSED = 2
# LED's names of an encoder layer's projections, by BART's.
_PROJECTIONS = {"q_proj": "query", "k_proj": "key", "v_proj": "value"}


def lengthened(model: Any, positions: int, window: int) -> Any:
    """Return a model with a BART's weights that reads up to `positions` tokens.

    Each token of the encoder attends to `window // 2` tokens on either side of it, so that time and memory grow
    linearly with the text. The learned position embeddings are repeated, as in LED (Beltagy et al. 2020), whose class
    of transformers the model has. A text of at most `window // 2 + 1` tokens is encoded as by the BART. The decoder is
    unchanged. For longer texts than it was trained on, the model should be trained further.

    Args:
        model: A `BartForConditionalGeneration`, which stays as it is.
        positions: Maximum number of input tokens; a multiple of `window`.
        window: Number of tokens that a token attends to besides itself; even.

    Raises:
        InputError: Another model, or sizes that do not fit.
    """
    from transformers import BartForConditionalGeneration, LEDConfig, LEDForConditionalGeneration

    if type(model) is not BartForConditionalGeneration or model.config.scale_embedding or conversions(model):
        raise InputError(f"expected a plain BART without scaled embeddings to lengthen, got {type(model).__name__}")
    own = model.config
    problems = size_problems(positions, window)
    if positions < own.max_position_embeddings:
        problems.append(f"positions: expected at least the {own.max_position_embeddings} of the model, got {positions}")
    if problems:
        raise InputError("; ".join(problems))
    same = {name: getattr(own, name) for name in LEDConfig().to_dict() if hasattr(own, name) and name != "model_type"}
    sizes = {
        "max_encoder_position_embeddings": positions,
        "max_decoder_position_embeddings": own.max_position_embeddings,
        "attention_window": window,
    }
    made: Any = LEDForConditionalGeneration
    long = made(LEDConfig(**same | sizes))
    missing, unexpected = long.load_state_dict(_renamed(model.state_dict(), positions), strict=False)
    if missing or unexpected:
        raise InputError(f"expected a BART's weights, got others: {', '.join([*missing, *unexpected][:3])}")
    long.tie_weights()
    long.generation_config = deepcopy(model.generation_config)
    return long.to(model.device, model.dtype).train(model.training)


def size_problems(positions: int, window: int) -> list[str]:
    """Return what is wrong with the numbers of positions and of tokens in the window, both counted in tokens."""
    if window < 2 or window % 2:
        return [f"window: expected an even number of tokens, got {window}"]
    return [f"positions: expected a multiple of the window {window}, got {positions}"] if positions % window else []


def _renamed(weights: dict[str, Tensor], positions: int) -> dict[str, Tensor]:
    """Return a BART's weights under the names of LED; those for global attention, which is not used, are copies."""
    found = {}
    for name, value in weights.items():
        side, _, rest = name.removeprefix("model.").partition(".")
        if rest == "embed_positions.weight":
            table = value[_UNUSED:]
            repeated = table.repeat(-(-positions // len(table)), 1)[:positions]
            found[_led(name)] = repeated if side == "encoder" else table
        elif side == "encoder" and ".self_attn." in rest:
            layer, _, part = name.partition(".self_attn.")
            projection, _, kind = part.partition(".")
            if projection == "out_proj":
                found[f"{_led(layer)}.self_attn.output.{kind}"] = value
                continue
            for suffix in ("", "_global"):
                led = f"{_PROJECTIONS[projection]}{suffix}"
                found[f"{_led(layer)}.self_attn.longformer_self_attn.{led}.{kind}"] = value
        else:
            found[_led(name)] = value
    return found


def _led(name: str) -> str:
    """Return LED's name of a part that a BART has under the same name, but with another prefix."""
    return name.replace("model.", "led.", 1) if name.startswith("model.") else name
