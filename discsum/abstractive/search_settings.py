"""Checks of search settings: penalties, and `generation_config.json`, which transformers applies unchecked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta

from discsum.constants import COVERAGE_PENALTIES, LENGTH_PENALTIES
from discsum.errors import InputError, WeightsError
from discsum.recipes.fields import Count, Natural, NotNegative, Positive, Share, check_value

MOST_BEAMS = 1000
LENGTH_PENALTY = Annotated[float, Meta(ge=0, le=LENGTH_PENALTIES)]
COVERAGE_PENALTY = Annotated[float, Meta(ge=0, le=COVERAGE_PENALTIES)]
TOKENS = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "decoder_start_token_id",
    "forced_bos_token_id",
    "forced_eos_token_id",
)
LISTS = ("bad_words_ids", "suppress_tokens", "begin_suppress_tokens")
SETTING_TYPES: dict[str, Any] = {
    # Includes the start token.
    "max_length": Annotated[int, Meta(ge=2)],
    "max_new_tokens": Count,
    **dict.fromkeys(("min_length", "min_new_tokens"), Natural),
    **dict.fromkeys(("no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "top_k"), Natural),
    **dict.fromkeys(("temperature", "repetition_penalty", "encoder_repetition_penalty", "max_time"), Positive),
    **dict.fromkeys(("top_p", "min_p", "top_h", "epsilon_cutoff", "eta_cutoff"), Share),
    "typical_p": Annotated[float, Meta(gt=0, le=1)],
    **dict.fromkeys(("do_sample", "use_cache", "renormalize_logits", "remove_invalid_values"), bool),
    "num_beams": Annotated[int, Meta(ge=1, le=MOST_BEAMS)],
    "length_penalty": float,
    "diversity_penalty": NotNegative,
    "early_stopping": bool | Literal["never"],
    "bad_words_ids": Annotated[list[list[int]], Meta(min_length=1)],
    "suppress_tokens": list[int],
    "begin_suppress_tokens": list[int],
    # Start of the penalty, and its factor.
    "exponential_decay_length_penalty": Annotated[list[float], Meta(min_length=2, max_length=2)],
    **dict.fromkeys(("num_return_sequences", "num_beam_groups"), Annotated[int, Meta(ge=1, le=1)]),
}
# Settings that do not affect summaries: extra outputs, assisted decoding, and caches.
HARMLESS_SETTINGS = (
    *("output_attentions", "output_hidden_states", "output_scores", "output_logits", "transformers_version"),
    *("is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule", "assistant_confidence_threshold"),
    *("assistant_lookbehind", "target_lookbehind", "assistant_ensemble_weight", "max_matching_ngram_size"),
    *("low_memory", "disable_compile", "max_cache_len"),
)


def chosen_setting(model: Any, given: Mapping[str, Any], name: str) -> Any:
    """Return a search setting as `generate` chooses it, or None if nothing sets it.

    The options `given` to `generate` come first, then their `generation_config`, then that of the model.
    """
    configs = (given.get("generation_config"), model.generation_config)
    values = (given.get(name), *(getattr(config, name, None) for config in configs))
    return next((value for value in values if value is not None), None)


def check_beams(count: int) -> None:
    """Raise `InputError` for a number of beams that is out of range."""
    check_value(SETTING_TYPES["num_beams"], count, "number of beams (--beams)")


def check_penalties(length: float | None, coverage: float | None) -> None:
    """Check the exponent of a length penalty and the weight of a coverage penalty, unless they are None.

    Raises:
        InputError: A value that is out of range, infinite or not a number.
    """
    for kind, value, name in (
        (LENGTH_PENALTY, length, "length penalty (--length-penalty)"),
        (COVERAGE_PENALTY, coverage, "coverage penalty (--coverage-penalty)"),
    ):
        if value is not None:
            check_value(kind, value, name)


def check_ranked(beams: int) -> None:
    """Raise `InputError` for a length or coverage penalty in a search without beams to rank."""
    if beams < 2:
        raise InputError(
            "length penalty, coverage penalty (--length-penalty, --coverage-penalty): expected a search with at "
            f"least 2 beams, whose hypotheses they rank, got {beams}"
        )


def check_search(model: Any, name: str) -> None:
    """Check the generation settings that were loaded with a model.

    Raises:
        WeightsError: Settings of a wrong type or out of range, tokens that the model does not have, or settings of an
            unsupported search, such as group beam search.
    """
    from transformers import GenerationConfig

    made: Any = GenerationConfig
    given = {key: value for key, value in vars(model.generation_config).items() if value is not None}
    tokens = model.get_input_embeddings().num_embeddings
    try:
        for key in TOKENS:
            for value in _flat(given.get(key)):
                _check_token(key, value, tokens)
        typed = {key: kind for key, kind in SETTING_TYPES.items() if key in given}
        for key, kind in typed.items():
            check_value(kind, list(given[key]) if isinstance(given[key], tuple) else given[key], key)
        if not all(given.get("bad_words_ids", ())):
            raise InputError("bad_words_ids: expected lists of at least one token, got an empty one")
        for key in LISTS:
            for value in _flat(given.get(key)):
                _check_token(key, value, tokens)
        others = vars(made()).keys() - {*SETTING_TYPES, *TOKENS, *HARMLESS_SETTINGS}
        for key in sorted(others & given.keys()):
            if given[key] and not key.startswith("_"):
                raise InputError(
                    f"{key}: expected no value, because discsum does not support it, got {given[key]!r}; remove it"
                )
    except InputError as error:
        raise WeightsError(f"{name}: generation_config.json or config.json: {error}") from error


def _check_token(key: str, value: Any, tokens: int) -> None:
    if type(value) is not int or not 0 <= value < tokens:
        raise InputError(f"{key}: expected a whole number from 0 to {tokens - 1}, got {value!r}")


def _flat(value: Any) -> list[Any]:
    """Return the tokens of a token or of nested lists as a flat list; None gives an empty one."""
    if isinstance(value, list | tuple):
        return [token for one in value for token in _flat(one)]
    return [] if value is None else [value]
