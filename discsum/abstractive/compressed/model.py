"""A PEGASUS that copies: the transformer of Yap et al., with sinusoidal positions and copy attention.

Its layers are pre-norm. Importing this module registers the model with `AutoConfig` and `AutoModelForSeq2SeqLM`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModelForSeq2SeqLM, PegasusConfig, PegasusForConditionalGeneration
from transformers.modeling_outputs import Seq2SeqLMOutput
from transformers.utils.generic import can_return_tuple

from discsum.abstractive.compressed.copying import CopyAttention
from discsum.abstractive.compressed.mixture import Mixture
from discsum.errors import InputError


class CopyPegasusConfig(PegasusConfig):  # type: ignore[no-untyped-call]
    """Configuration of a PEGASUS that copies.

    Attributes:
        position_base: Base of the sinusoids' wavelengths (Vaswani et al. 2017, section 3.5; 1,000 in Yap et al.).
        unk_token_id: Token that the decoder reads in place of a copied word that its vocabulary lacks.
    """

    model_type = "copy_pegasus"

    position_base: float = 10_000.0
    unk_token_id: int | None = 3
    # Name of the field: `discsum.abstractive.families.FIELD`.
    discsum_family: str = "compressed"


@dataclass
class CopyOutput(Seq2SeqLMOutput):
    """Output of a PEGASUS that copies: that of `transformers`, or without `dense` a mixture in place of `logits`."""

    mixture: Mixture | None = None


class CopyPegasusForConditionalGeneration(PegasusForConditionalGeneration):  # type: ignore[no-untyped-call]
    """A PEGASUS whose logits are log probabilities of its vocabulary and of the words of the text."""

    config_class = CopyPegasusConfig

    def __init__(self, config: CopyPegasusConfig) -> None:
        """Make a model with random weights."""
        super().__init__(config)
        self.copying = CopyAttention(config.d_model)
        base: Any = self
        base.post_init()
        for side in (base.get_encoder(), base.get_decoder()):
            weight = side.embed_positions.weight
            with torch.no_grad():
                weight.copy_(split_sinusoids(weight.shape[0], weight.shape[1], config.position_base))

    @can_return_tuple  # type: ignore[untyped-decorator]
    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        encoder_outputs: Any = None,
        source_ids: Tensor | None = None,
        labels: Tensor | None = None,
        dense: bool = True,
        **options: Any,
    ) -> CopyOutput:
        """Return log probabilities `(rows, steps, extended)` as `logits`; as a tuple with `return_dict=False`.

        Args:
            input_ids: `(rows, tokens)` of the text.
            attention_mask: `(rows, tokens)`, 0 for padding.
            decoder_input_ids: `(rows, steps)`, of the extended vocabulary.
            encoder_outputs: Result of the encoder, instead of running it.
            source_ids: `(rows, tokens)` of the text in the extended vocabulary; by default `input_ids`.
            labels: `(rows, steps)` of the extended vocabulary.
            dense: Whether to return `logits`; otherwise the `mixture` is returned, which is all that training needs.
            options: Those of PEGASUS.

        Raises:
            InputError: Neither `source_ids` nor `input_ids`, without which nothing can be copied.
        """
        if labels is not None and decoder_input_ids is None:
            decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        if decoder_input_ids is not None:
            beyond = decoder_input_ids >= self.config.vocab_size
            decoder_input_ids = decoder_input_ids.masked_fill(beyond, self.config.unk_token_id or 0)
        source = input_ids if source_ids is None else source_ids
        if source is None:
            raise InputError(
                "expected source_ids, the text that may be copied, together with encoder_outputs; got none"
            )
        options["use_cache"] = False if labels is not None else options.get("use_cache")
        output = self.model(
            input_ids,
            attention_mask=attention_mask,
            decoder_input_ids=decoder_input_ids,
            encoder_outputs=encoder_outputs,
            # The output's parts are read by name below, so it must not be a tuple.
            return_dict=True,
            **options,
        )
        states = output.last_hidden_state
        readable = self._readable(source, attention_mask)
        attention, gate = self.copying(states, output.encoder_last_hidden_state, readable)
        mixture = Mixture(self.lm_head(states) + self.final_logits_bias, attention, gate, source)
        logits = mixture.log_probabilities() if dense else None
        loss = None
        if labels is not None:
            loss = -mixture.scores_of(labels).label.mean()
        named = {name: value for name, value in output.items() if name != "last_hidden_state"}
        return CopyOutput(loss=loss, logits=logits, mixture=None if dense else mixture, **named)

    def generate(self, inputs: Tensor | None = None, **options: Any) -> Any:
        """Generate as `transformers` does.

        `source_ids` default to the inputs, in which unknown words have no ids of their own.
        """
        source = options.pop("source_ids", None)
        given = inputs if inputs is not None else options.get("input_ids")
        return super().generate(inputs, **options, source_ids=source if source is not None else given)

    def _readable(self, source: Tensor, mask: Tensor | None) -> Tensor:
        """Return `(rows, tokens)`: true for words, false for padding and special tokens."""
        ids = (getattr(self.config, f"{name}_token_id", None) for name in ("pad", "bos", "eos"))
        special = [one for one in ids if one is not None]
        words = ~torch.isin(source, torch.tensor(special, device=source.device))
        return words if mask is None else words & mask.bool()


def split_sinusoids(positions: int, width: int, base: float) -> Tensor:
    """Return position embeddings `(positions, width)`: sines in the first half of the width, then cosines."""
    rates = base ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(positions, dtype=torch.float64)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()[:, : width // 2]], dim=1).float()


AutoConfig.register(CopyPegasusConfig.model_type, CopyPegasusConfig, exist_ok=True)
AutoModelForSeq2SeqLM.register(CopyPegasusConfig, CopyPegasusForConditionalGeneration, exist_ok=True)
