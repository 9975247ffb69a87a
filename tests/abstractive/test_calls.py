"""Calls of a sparse model: what they read and warn of, also in threads, nested, and in trainers."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
import tiny
import torch
from tiny_bart import SPECIAL, Inputs, generated, make_bart
from transformers import (
    DataCollatorForSeq2Seq,
    GenerationConfig,
    LogitsProcessorList,
    PreTrainedTokenizerFast,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

from discsum.abstractive.sparse import LayoutCollator, SentenceLayout, from_pretrained, sparsify
from discsum.abstractive.sparse.calls import CallRecord, SparseSettings
from discsum.errors import InputError, InputWarning, WeightsError

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
    assert model.sparse.last == CallRecord("full", "no document has more than r sentences", (5, 3), (5, 3))


def test_what_was_asked_for_is_read_without_a_word(inputs):
    model = sparsify(make_bart(), r=2, dense_where_faster=False)
    assert model.sparse.last is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generated(model, inputs, layout=inputs.layout)
    assert model.sparse.last == CallRecord("selected", "a single step", (5, 3), (2, 2))
    # Full attention was asked for, so there is no warning either.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        generated(sparsify(make_bart()), inputs)


def test_samples_do_not_share_their_sentences(inputs):
    """A sample does not depend on what the other samples of its document write."""
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


@pytest.mark.parametrize("where", ["options", "generation_config", "positional", "the model", "a partial one"])
def test_beams_share_their_sentences_wherever_their_number_is_said(inputs, where):
    model = sparsify(make_bart(), selector="ideal", r=1, dense_where_faster=False)
    expected = generated(model, inputs, layout=inputs.layout, num_beams=3)
    lengths = {"max_new_tokens": 9, "min_new_tokens": 6}
    own = GenerationConfig(**SPECIAL, **lengths, forced_eos_token_id=2, num_beams=3)
    arguments, options = (inputs.ids,), {"attention_mask": inputs.mask, "layout": inputs.layout}
    if where == "options":
        options |= {"num_beams": 3, **lengths}
    elif where == "generation_config":
        options |= {"generation_config": own}
    elif where == "positional":
        arguments += (own,)
    else:
        model.generation_config.num_beams = 3
        options |= lengths if where == "the model" else {"generation_config": GenerationConfig(**lengths)}
    shared = []
    with patched_record(lambda settings: shared.append(settings.call.share_beams)):
        found = model.generate(*arguments, **options)
    assert found.tolist() == expected
    assert set(shared) == {True}


@contextmanager
def patched_record(seen):
    """Call `seen` with the settings whenever a reading is recorded."""
    with pytest.MonkeyPatch.context() as patch:
        own = SparseSettings.record
        patch.setattr(SparseSettings, "record", lambda self, reading: (seen(self), own(self, reading))[1])
        yield


@pytest.mark.parametrize("r", [0, -3, 2.5, True, "3"])
def test_numbers_of_sentences_that_are_none(inputs, r):
    model = sparsify(make_bart(), r=2, dense_where_faster=False)
    model.sparse.r = r
    with pytest.raises(InputError, match=f"r: expected at least 1 sentence, got {r!r}"):
        generated(model, inputs, layout=inputs.layout)
    model.sparse.r = 2
    with pytest.raises(InputError, match="r: expected at least 1"), model.sparse.using(r=r):
        pass
    with pytest.raises(InputError, match="r: expected at least 1"):
        sparsify(make_bart(), r=r)


def test_a_selector_whose_weights_are_no_numbers(tmp_path):
    model = sparsify(make_bart(), r=2, selector="gru")
    with torch.no_grad():
        model.sentence_encoder.output.bias[0] = torch.nan
    model.save_pretrained(tmp_path)
    with pytest.raises(WeightsError, match=r"finite numbers, but sentence_encoder\.output\.bias has others"):
        from_pretrained(tmp_path)


@pytest.mark.parametrize("call", ["forward", "generate"])
def test_layouts_of_other_inputs(inputs, call):
    model = sparsify(make_bart(), r=2, dense_where_faster=False)
    run, given = (model, inputs.forward) if call == "forward" else (model.generate, inputs.generate)
    with pytest.raises(InputError, match="expected a SentenceLayout, got Tensor"):
        run(**given, layout=inputs.owner)
    # A layout that counts the second document's padding as part of its last sentence.
    padded = SentenceLayout.from_owner(inputs.owner.masked_fill(inputs.owner < 0, 2))
    with pytest.raises(InputError, match="for exactly the tokens that attention_mask leaves unmasked"):
        run(**given, layout=padded)
    for owner, size in ((inputs.owner[:, :10].clone(), r"\(2, 10\)"), (inputs.owner[:1], r"\(1, 22\)")):
        with pytest.raises(InputError, match=r"expected a layout of \(2, 22\) tokens, got one of " + size):
            run(**given, layout=SentenceLayout.from_owner(owner))


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
    tensors = [one | {"layout": torch.tensor(one["layout"])} for one in features]
    assert collator(tensors)["layout"].owner.equal(batch["layout"].owner)
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
