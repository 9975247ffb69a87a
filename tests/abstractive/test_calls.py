"""Calls of a sparse model: what they read and say, side by side, nested, in trainers."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import tiny
import torch
from tiny_bart import Inputs, generated, make_bart
from transformers import (
    DataCollatorForSeq2Seq,
    LogitsProcessorList,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

from discsum.abstractive.sparse import LayoutCollator, SentenceLayout, sparsify
from discsum.abstractive.sparse.calls import Reading
from discsum.errors import InputError, InputWarning

NOT_SELECTED = [
    ({}, False, "no layout was given", ("full", None)),
    ({"use_cache": False}, True, "use_cache is off", ("masked", (2, 2))),
    ({"output_attentions": True}, True, "attention weights were asked for", ("masked", (2, 2))),
]


@pytest.mark.parametrize(("options", "layout", "said", "last"), NOT_SELECTED, ids=str)
def test_what_saves_nothing_is_said_once(inputs, options, layout, said, last):
    model = sparsify(make_bart(), r=2, dense_where_faster=False)
    options = options | ({"layout": inputs.layout} if layout else {})
    with pytest.warns(InputWarning, match=said):
        generated(model, inputs, **options)
    assert (model.sparse.last.path, model.sparse.last.read) == last
    assert model.sparse.last.reason == said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generated(model, inputs, **options)


def test_r_that_covers_the_text_is_said(inputs):
    model = sparsify(make_bart(), r=5)
    with pytest.warns(InputWarning, match="r = 5: all sentences are read, because no document has more"):
        generated(model, inputs, layout=inputs.layout)
    assert model.sparse.last == Reading("full", "no document has more than r sentences", (5, 3), (5, 3))


def test_what_was_asked_for_is_read_without_a_word(inputs):
    model = sparsify(make_bart(), r=2, dense_where_faster=False)
    assert model.sparse.last is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generated(model, inputs, layout=inputs.layout)
    assert model.sparse.last == Reading("selected", "a single step", (5, 3), (2, 2))
    # Full attention was asked for.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generated(sparsify(make_bart()), inputs)


def test_samples_do_not_share_their_sentences(inputs):
    """A row of several samples is what it is when the other rows write something else."""
    model = sparsify(make_bart(), selector="ideal", r=1, dense_where_faster=False)
    options = {"do_sample": True, "num_return_sequences": 2, "max_new_tokens": 6, "min_new_tokens": 6}
    options |= {"output_logits": True, "return_dict_in_generate": True}

    def logits(second):
        def force(ids, scores):
            wanted = torch.tensor([7, second] * 2)
            return torch.full_like(scores, -torch.inf).scatter(1, wanted[:, None], 0.0)

        found = model.generate(**inputs.generate, layout=inputs.layout, logits_processor=[force], **options)
        return torch.stack(found.logits, 1)[::2]

    torch.testing.assert_close(logits(9), logits(40))


def test_a_call_within_a_call(inputs):
    """Another document is summarized between two steps of the first."""
    model = sparsify(make_bart(), selector="ideal", r=1, dense_where_faster=False)
    expected = generated(model, inputs, layout=inputs.layout)
    other = SentenceLayout.from_owner(torch.zeros(1, 22, dtype=torch.long))

    def interrupt(ids, scores):
        model.generate(input_ids=inputs.ids[:1], layout=other, max_new_tokens=2)
        model(input_ids=inputs.ids[:1], decoder_input_ids=ids[:1], layout=other)
        return scores

    with pytest.warns(InputWarning, match="r = 1: all sentences are read"):
        found = generated(model, inputs, layout=inputs.layout, logits_processor=LogitsProcessorList([interrupt]))
    assert found == expected


def test_settings_of_one_thread_are_not_anothers(inputs):
    model = sparsify(make_bart(), selector="ideal", dense_where_faster=False)

    def write(r):
        with model.sparse.using(r=r), torch.no_grad():
            return model(**inputs.forward, layout=inputs.layout).logits

    expected = {r: write(r) for r in (1, 2, 3)}
    with ThreadPoolExecutor(3) as pool:
        for r, found in zip((1, 2, 3) * 8, pool.map(write, (1, 2, 3) * 8), strict=True):
            assert found.equal(expected[r])
    assert model.sparse.r is None


def test_observed_attention_with_gradient_checkpointing_is_refused(inputs):
    model = sparsify(make_bart(), r=2).train()
    model.gradient_checkpointing_enable()
    with model.sparse.using(observer=print), pytest.raises(InputError, match="gradient_checkpointing_disable"):
        model(**inputs.forward, layout=inputs.layout)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("checkpointing", [True, False])
def test_a_trainer_of_transformers(tmp_path, side, checkpointing):
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tiny.make_tokenizer(), pad_token="[PAD]", padding_side=side)
    model = make_bart(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    sparsify(model, selector="mean_key", r=1)
    inputs = Inputs()
    features = [
        {
            "input_ids": inputs.ids[row, :count].tolist(),
            "attention_mask": [1] * count,
            "labels": inputs.decoder[row].tolist(),
            "layout": inputs.owner[row, :count].tolist(),
        }
        for row, count in ((0, 22), (1, 15))
    ]
    collator = LayoutCollator(DataCollatorForSeq2Seq(tokenizer, model=model))
    batch = collator(features)
    assert (batch["layout"].owner >= 0).equal(batch["attention_mask"].bool())
    assert [len(spans) for spans in batch["layout"].spans] == [5, 3]
    options = Seq2SeqTrainingArguments(
        str(tmp_path),
        max_steps=2,
        per_device_train_batch_size=2,
        per_device_eval_batch_size=2,
        report_to=[],
        use_cpu=True,
        gradient_checkpointing=checkpointing,
        predict_with_generate=True,
        generation_max_length=6,
    )
    trainer = Seq2SeqTrainer(model, options, train_dataset=features, eval_dataset=features, data_collator=collator)
    before = model.get_decoder().layers[0].encoder_attn.k_proj.weight.clone()
    trainer.train()
    assert model.sparse.last.path == "masked"
    assert not model.get_decoder().layers[0].encoder_attn.k_proj.weight.equal(before)
    predicted = trainer.predict(features)
    assert predicted.predictions.shape[0] == 2
    with pytest.raises(InputError, match="feature 0: expected layout to have a sentence for each of 22 tokens, got 0"):
        collator([{**features[0], "layout": None}])
