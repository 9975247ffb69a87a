"""Steps of a run: batches, losses, encoding of units, and learning rates."""

import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from small_runs import trainer

from discsum.encoder.features import unit_features
from discsum.encoder.synthesizer import SynthesizerConfig
from discsum.errors import DiscsumError, InputError
from discsum.metrics.rouge import rouge
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.training.examples import collate
from discsum.training.schedule import rate_factor
from discsum.training.task import Step


def test_a_batch_is_its_examples(data, parser_folder, tmp_path):
    row = trainer(data, parser_folder, tmp_path).task.train
    examples = [row[index] for index in range(5)]
    batch = collate(examples)
    for row, example in enumerate(examples):
        units = len(example.labels)
        inputs, prior = batch.inputs, batch.inputs.prior["matrix"]
        assert inputs.mask[row].tolist() == [index < units for index in range(inputs.mask.shape[1])]
        torch.testing.assert_close(inputs.vectors[row, :units], example.inputs.vectors)
        torch.testing.assert_close(prior[row, :units, :units], example.inputs.prior["matrix"])
        assert not prior[row, units:].any()
        assert batch.labels[row, :units].tolist() == example.labels.tolist()


def test_targets_lean_to_the_lead(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path, lead_share=0.25).task
    example = run.train[int(run.train.lengths.argmax())]
    batch = collate([example])
    losses = []
    logits = run.scorer.eval()(batch)[0].tolist()
    for place, (logit, label) in enumerate(zip(logits, example.labels.tolist(), strict=True)):
        target = 0.75 * label + 0.25 * (place < run.recipe.summary_units)
        chance = 1 / (1 + math.exp(-logit))
        losses.append(-target * math.log(chance) - (1 - target) * math.log(1 - chance))
    assert run.unit_losses(run.scorer(batch), batch)[0].tolist() == pytest.approx(losses, rel=1e-5)
    with pytest.raises(InputError, match=r"lead_share: expected a number in \[0, 1\], got 1.5"):
        trainer(data, parser_folder, tmp_path, lead_share=1.5)


def test_the_list_wise_loss_by_hand(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path, listwise=0.25, temperature=0.5, lead_share=0.5).task
    examples = [run.train[int(run.train.lengths.argmax())], run.train[int(run.train.lengths.argmin())]]
    batch = collate(examples)
    with torch.inference_mode():
        logits = run.scorer.eval()(batch)
    for example, row, found in zip(examples, logits.tolist(), run.list_losses(logits, batch).tolist(), strict=True):
        texts, count = example.document.sentence_texts, len(example.labels)
        alone = [100 * sum(rouge([text], [example.references]).mean[name] for name in ("rouge1", "rouge2")) / 100
                 for text in texts]  # fmt: skip
        assert example.gains.tolist() == pytest.approx(alone, abs=1e-6)
        shares = [math.exp(gain / 0.5) for gain in alone]
        targets = [0.5 * share / sum(shares) + 0.5 * (place < 1) for place, share in enumerate(shares)]
        total = math.log(sum(math.exp(logit) for logit in row[:count]))
        loss = -sum(target * (logit - total) for target, logit in zip(targets, row[:count], strict=True))
        assert found == pytest.approx(loss, rel=1e-4)
    (weighted,) = run.batches([range(len(run.train))][:1], Step(0, 0.0, 0.0))
    parts = run.loss(run.scorer, weighted)
    assert parts["loss"].item() == pytest.approx(0.75 * parts["labels"].item() + 0.25 * parts["listwise"].item())
    assert not trainer(data, parser_folder, tmp_path / "labels").task.train[0].gains.any()


def test_units_of_the_oracle_weigh_more(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path, positive_weight=3.0).task
    longest = int(run.train.lengths.argmax())
    example = run.train[longest]
    (weighted,) = run.batches([[longest]], Step(0, 0.0, 0.0))
    batch = weighted.batch
    logits = run.scorer.eval()(batch)
    loss, weights = 0.0, 0.0
    for logit, label in zip(logits[0].tolist(), example.labels.tolist(), strict=True):
        chance = 1 / (1 + math.exp(-logit))
        weight = 3.0 if label else 1.0
        loss -= weight * math.log(chance if label else 1 - chance)
        weights += weight
    assert run.loss(run.scorer, weighted)["loss"].item() == pytest.approx(loss / weights, rel=1e-5)


def test_only_the_first_units_are_read_in_training(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path, read_units=2, encoder_layers=1).task
    assert run.train.lengths.max() == 2
    assert run.validation.lengths.max() > 2
    longest = int(np.argmax([len(example.document.sentences) for example in map(run.train.__getitem__, range(24))]))
    example = run.train[longest]
    assert len(example.labels) == 2 < len(example.document.sentences)
    # Features come from the whole document. So do vectors, but without the text after the last unit.
    torch.testing.assert_close(
        example.inputs.features, torch.from_numpy(unit_features(example.document, "sentence")[:2])
    )
    assert run.scorer(collate([example])).shape == (1, 2)


def test_parts_of_a_step_learn_what_the_whole_step_does(data, parser_folder, tmp_path):
    still = {"synthesizer": SynthesizerConfig(inner=32, scorer=8, dropout=0.0), "epochs": 2, "positive_weight": 2.0}
    whole, parts = (trainer(data, parser_folder, tmp_path / str(count), accumulate=count, **still) for count in (1, 3))
    for run in (whole, parts):
        run.run()
    assert [entry.loss for entry in parts.log] == pytest.approx([entry.loss for entry in whole.log], abs=2e-4)
    assert [entry.validation for entry in parts.log] == [entry.validation for entry in whole.log]


@pytest.mark.parametrize("vectors", ["contextual", "isolated", "encoder"])
@pytest.mark.parametrize("layers", [0, 1])
def test_encoding_each_step(data, parser_folder, encoder_folder, tmp_path, vectors, layers):
    name = str(encoder_folder) if vectors == "encoder" else vectors
    changes = {
        "vectors": name,
        "encode_each_step": True,
        "encoder_layers": layers,
        "encoder_learning_rate": 1e-3,
        "epochs": 2,
    }
    # Validated once, so that the last step is the best.
    run = trainer(data, parser_folder, tmp_path / "run", **changes, validate_every=6)
    frozen = [value.clone() for value in run.task.scorer.encoder.windows.state_dict().values()]
    run.run()
    changed = [
        not one.equal(two)
        for one, two in zip(frozen, run.task.scorer.encoder.windows.state_dict().values(), strict=True)
    ]
    assert any(changed) == bool(layers)
    assert not all(changed)
    model = ExtractiveSummarizer.from_pretrained(tmp_path / "run" / "best")
    assert model.config.encoder_layers == layers
    # The saved model scores like the validated one, except for rounding to float16.
    example = run.task.validation[0]
    with run._averaged():
        best = run.task.scorer.eval().score([example])[0].sigmoid()
    assert run.best is run.log[-1]
    saved = model.score(example.document, "sentence")
    torch.testing.assert_close(torch.from_numpy(saved).float(), best.detach(), atol=5e-3, rtol=0)
    weights = load_file(tmp_path / "run" / "best" / "model.safetensors")
    assert any(name.startswith("encoder.") for name in weights) == bool(layers)


def test_without_dropout_each_step_is_the_cache(data, parser_folder, tmp_path):
    """Without dropout, a frozen encoder gives the cached vectors, except for their half precision."""
    cached = trainer(data, parser_folder, tmp_path / "cached", synthesizer=SynthesizerConfig(dropout=0.0))
    anew = trainer(
        data, parser_folder, tmp_path / "anew", synthesizer=SynthesizerConfig(dropout=0.0), encode_each_step=True
    )
    one, two = (run.task.scorer.eval().score([run.task.train[0], run.task.train[1]]) for run in (cached, anew))
    torch.testing.assert_close(one, two, atol=2e-2, rtol=2e-2)


def test_a_frozen_encoder_has_its_dropout(data, parser_folder, encoder_folder, tmp_path):
    still = SynthesizerConfig(inner=32, scorer=8, dropout=0.0)
    changes = {"synthesizer": still, "vectors": str(encoder_folder), "encode_each_step": True}
    run = trainer(data, parser_folder, tmp_path, **changes).task
    batch = collate([run.train[0]])
    run.scorer.train()
    assert not run.scorer(batch).equal(run.scorer(batch))
    run.scorer.eval()
    assert run.scorer(batch).equal(run.scorer(batch))


def test_a_loss_that_is_no_number_names_the_documents(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path)
    run.task.train[0].inputs.vectors.fill_(float("nan"))
    with pytest.raises(DiscsumError, match=r"step 1: the loss is nan on text-"):
        run.run()


def test_the_rate_rises_and_falls():
    values = [rate_factor(step / 100, 0.1, 100) for step in range(100)]
    assert max(rate_factor(step / 8, 0.05, 8) for step in range(8)) == 1.0
    assert values.index(max(values)) in (9, 10)
    assert max(values) == pytest.approx(1.0, abs=0.01)
    assert values[0] == pytest.approx(0.1)
    assert values[-1] < 0.01


def test_the_noam_schedule_is_that_of_the_released_code():
    """The rate is proportional to min(step^-0.5, step * warmup^-1.5); here it is relative to its peak."""
    warmup, steps = 2400, 24_000
    for step in (0, 100, 2399, 2400, 5000, 23_999):
        number = step + 1
        expected = min(number**-0.5, number * warmup**-1.5) / warmup**-0.5
        assert rate_factor(step / steps, warmup / steps, steps, "noam") == pytest.approx(expected, rel=1e-3)
