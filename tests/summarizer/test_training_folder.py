"""The folder of a run: its files, resuming from them, and errors if they are missing or altered."""

import json
import shutil
from pathlib import Path

import pytest
import tiny
from safetensors.torch import load_file, save_file
from small_news import write_table
from small_runs import trainer

from discsum.errors import InputError, WeightsError
from discsum.summarizer.extractive import ExtractiveSummarizer


def test_a_folder_with_another_run_is_refused(data, parser_folder, tmp_path):
    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    with pytest.raises(InputError, match=r"one of another recipe \(seed 1 there and 2 here\)"):
        trainer(data, parser_folder, tmp_path / "run", epochs=1, seed=2)


def test_another_licence_changes_the_card_alone(data, parser_folder, tmp_path):
    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    weights = (tmp_path / "run" / "best" / "model.safetensors").read_bytes()
    resumed = trainer(data, parser_folder, tmp_path / "run", epochs=1, license="mit")
    assert resumed.finished
    resumed.run()
    assert "license: mit" in (tmp_path / "run" / "best" / "README.md").read_text(encoding="utf-8")
    assert (tmp_path / "run" / "best" / "model.safetensors").read_bytes() == weights
    assert trainer(data, parser_folder, tmp_path / "run", epochs=1, license="mit").finished


def test_a_run_goes_on_with_its_own_documents_only(data, parser_folder, tmp_path):
    folder = tmp_path / "news"
    shutil.copytree(data, folder, ignore=shutil.ignore_patterns("datasets"))
    trainer(folder, parser_folder, tmp_path / "run", epochs=1).run()
    write_table(folder / "train.jsonl", 1, 25)
    with pytest.raises(InputError, match="expected the training data that the run began with"):
        trainer(folder, parser_folder, tmp_path / "run", epochs=1)


def test_a_damaged_checkpoint_is_named(data, parser_folder, tmp_path):
    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    path = tmp_path / "run" / "last.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(WeightsError, match=r"last\.safetensors: expected a checkpoint, got"):
        trainer(data, parser_folder, tmp_path / "run", epochs=1)


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 2
    path.write_bytes(content)


def test_a_checkpoint_with_another_bit_is_refused(data, parser_folder, tmp_path):
    run = trainer(data, parser_folder, tmp_path / "run", epochs=2, stop_after=1)
    run.run()
    flip(tmp_path / "run" / "last.safetensors", -5)
    with pytest.raises(WeightsError, match=r"last\.safetensors: expected the content that was written, sha256"):
        trainer(data, parser_folder, tmp_path / "run", epochs=2, stop_after=1)


def test_best_weights_with_another_bit_are_refused(data, parser_folder, tmp_path):
    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    flip(tmp_path / "run" / "best" / "model.safetensors", -5)
    with pytest.raises(WeightsError, match=r"best/model\.safetensors: expected sha256 .*, as step 3 wrote it, got"):
        trainer(data, parser_folder, tmp_path / "run", epochs=1)


def test_a_finished_run_is_left_alone(data, parser_folder, tmp_path):
    def left():
        return {path: path.stat().st_mtime_ns for path in (tmp_path / "run").rglob("*") if path.is_file()}

    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    before = left()
    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    assert left() == before


def test_an_encoder_that_changed_is_refused_by_its_models(data, parser_folder, encoder_folder, tmp_path):
    encoder = tmp_path / "encoder"
    shutil.copytree(encoder_folder, encoder)
    trainer(data, parser_folder, tmp_path / "run", epochs=1, vectors=str(encoder)).run()
    model = ExtractiveSummarizer.from_pretrained(tmp_path / "run" / "best")
    assert model.summarize(tiny.ARTICLE).text
    weights = load_file(encoder / "model.safetensors")
    save_file({name: value + 1e-3 for name, value in weights.items()}, encoder / "model.safetensors", {"format": "pt"})
    with pytest.raises(WeightsError, match=r"expected the encoder .* with digest"):
        ExtractiveSummarizer.from_pretrained(tmp_path / "run" / "best").summarize(tiny.ARTICLE)


def test_a_run_is_not_resumed_with_an_encoder_that_changed(data, parser_folder, encoder_folder, tmp_path):
    encoder, settings = tmp_path / "encoder", {"encode_each_step": True, "vectors": str(tmp_path / "encoder")}
    shutil.copytree(encoder_folder, encoder)
    trainer(data, parser_folder, tmp_path / "run", epochs=1, **settings).run()
    weights = load_file(encoder / "model.safetensors")
    save_file({name: value + 1e-3 for name, value in weights.items()}, encoder / "model.safetensors", {"format": "pt"})
    with pytest.raises(WeightsError, match=r"vectors: expected the encoder .*, which the run began with, got"):
        trainer(data, parser_folder, tmp_path / "run", epochs=1, **settings)


def test_best_weights_that_are_gone_are_missed(data, parser_folder, tmp_path):
    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    shutil.rmtree(tmp_path / "run" / "best")
    with pytest.raises(InputError, match=r"best/config.json: expected the weights of step 3, .*delete .*last.safe"):
        trainer(data, parser_folder, tmp_path / "run", epochs=1)
    (tmp_path / "run" / "last.safetensors").unlink()
    trainer(data, parser_folder, tmp_path / "run", epochs=1).run()
    assert ExtractiveSummarizer.from_pretrained(tmp_path / "run" / "best").name == "tiny-news"


def test_weights_and_card_are_written_together_or_not_at_all(data, parser_folder, tmp_path, monkeypatch):
    run = trainer(data, parser_folder, tmp_path / "run", epochs=1)

    def full(log, best):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run.task, "card", full)
    with pytest.raises(OSError, match="No space left"):
        run.run()
    assert not [path for path in (tmp_path / "run").iterdir() if "best" in path.name]


def test_a_log_for_tensorboard_that_cannot_be_written_ends_alone(data, parser_folder, tmp_path):
    lines = []
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "tensorboard").write_text("a file in its place")
    trainer(data, parser_folder, tmp_path / "run", epochs=2, report=lines.append).run()
    said = [line for line in lines if "TensorBoard's log cannot be written" in line]
    assert len(said) == 1
    assert "the run continues without it" in said[0]
    assert (tmp_path / "run" / "best" / "config.json").is_file()


def test_tensorboard_reads_the_curves(data, parser_folder, tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    trainer(data, parser_folder, tmp_path / "run", epochs=2).run()
    curves = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    assert {"train/loss", "train/rate", "validation/rouge1"} <= set(curves.Tags()["scalars"])
    log = json.loads((tmp_path / "run" / "log.json").read_text())
    found = [(event.step, event.value) for event in curves.Scalars("train/loss")]
    assert found == [(entry["steps"], pytest.approx(entry["loss"])) for entry in log]


def test_a_model_in_a_linked_folder_finds_its_parser(data, parser_folder, tmp_path):
    (tmp_path / "disk" / "far" / "runs").mkdir(parents=True)
    (tmp_path / "runs").symlink_to(tmp_path / "disk" / "far" / "runs")
    shutil.copytree(parser_folder, tmp_path / "parser")
    run = trainer(data, str(tmp_path / "parser"), tmp_path / "runs" / "first", epochs=1)
    run.task.save(tmp_path / "runs" / "first")
    assert ExtractiveSummarizer.from_pretrained(tmp_path / "runs" / "first").summarize(tiny.ARTICLE).text


def test_an_encoder_in_a_folder_is_found_from_anywhere(data, parser_folder, encoder_folder, tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(encoder_folder, tmp_path / "here" / "encoder")
    monkeypatch.chdir(tmp_path / "here")
    # This run computes its own vectors, because the encoder's name is part of the key of cached vectors.
    trainer(data, parser_folder, Path("run"), epochs=1, vectors="encoder").run()
    model = ExtractiveSummarizer.from_pretrained("run/best")
    # Dataset folders with its vectors record this name.
    assert model.config.vectors == "encoder"
    expected = model.summarize(tiny.ARTICLE).text
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert ExtractiveSummarizer.from_pretrained("../here/run/best").summarize(tiny.ARTICLE).text == expected
    # Model and encoder are moved together, then the model is saved again at another depth.
    (tmp_path / "here").rename(tmp_path / "there")
    model = ExtractiveSummarizer.from_pretrained(tmp_path / "there" / "run" / "best")
    assert model.summarize(tiny.ARTICLE).text == expected
    model.save_pretrained(tmp_path / "copy")
    assert ExtractiveSummarizer.from_pretrained(tmp_path / "copy").summarize(tiny.ARTICLE).text == expected
