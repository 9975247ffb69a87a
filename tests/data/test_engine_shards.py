"""Every engine makes shards with the same bytes, even if a worker is killed."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from engine_work import EngineWithKilledWorker, warn_of
from safetensors.torch import load_file, save_file
from small_news import write_table

from discsum.data.dataset_maker import DatasetMaker
from discsum.data.engines import engine_of
from discsum.data.pairs import PairSource
from discsum.data.preprocess import preprocess_job
from discsum.data.preprocess_recipe import PreprocessRecipe, makers, own_makers
from discsum.data.run_options import RunOptions
from discsum.data.shard_maker import ShardTask
from discsum.data.shard_run import absolute, make_all
from discsum.errors import InputError, InputWarning, WeightsError


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(parser_folder, tmp_path_factory):
    """Return a source, a recipe, and the files of the folder that this process makes from them."""
    place = tmp_path_factory.mktemp("shards")
    source = PairSource(str(write_table(place / "news.jsonl", 0, 36)))
    recipe = PreprocessRecipe(str(parser_folder), encoder="contextual", shard=9)
    make_all(preprocess_job(source.pairs(), source.identity(), place / "whole", recipe))
    return source, recipe, contents(place / "whole")


def test_the_same_bytes_after_a_kill(engine, whole, tmp_path):
    source, recipe, wanted = whole
    done = []
    killing = EngineWithKilledWorker(engine, tmp_path / "killed")
    with pytest.warns(InputWarning, match=r"^a worker died on shard-0000\d.parquet: "):
        make_all(
            preprocess_job(source.pairs(), source.identity(), tmp_path / "set", recipe),
            RunOptions(engine=killing, report=done.append),
        )
    assert (tmp_path / "killed").exists()
    assert contents(tmp_path / "set") == wanted
    assert done == sorted(set(done))
    assert done[-1] == 36


@dataclass(frozen=True)
class Noting:
    """An engine that runs in this process and records the work that it is given."""

    noted: list

    def results_of(self, work, tasks, step):
        self.noted.append(work)
        return engine_of("local").results_of(work, tasks, step)


def test_workers_elsewhere_are_given_absolute_paths(whole, tmp_path, monkeypatch):
    source, recipe, _ = whole
    parser, noted = Path(recipe.parser), []
    monkeypatch.chdir(parser.parent)
    named = replace(recipe, parser=parser.name)
    manifest = make_all(
        preprocess_job(source.pairs(0, 2), source.identity(), tmp_path / "set", named), RunOptions(engine=Noting(noted))
    )
    (work,) = noted
    assert (work.recipe.parser, work.folder) == (str(parser), tmp_path / "set")
    # The manifest has the name that the user gave. A name that is not a folder is not made absolute.
    assert (manifest.recipe["parser"], work.recipe.encoder) == (parser.name, "contextual")


def test_a_worker_with_another_program_or_device_refuses(whole, tmp_path):
    _, recipe, _ = whole
    made_by = own_makers(recipe.parser)
    for changes, message in (
        (
            {"parser": "0" * 64},
            r"expected the program and models of the run, found different ones \(parser '0{64}' there and",
        ),
        ({"discsum": "0.0.1"}, r"discsum '0.0.1' there and"),
    ):
        maker = DatasetMaker(tmp_path, "", made_by | changes, "cpu", recipe)
        with pytest.raises(InputError, match=message):
            maker(ShardTask("shard-00000.parquet", []), lambda steps: None)
    with pytest.raises(InputError, match=r"^device \(--device\): expected a device"):
        maker = DatasetMaker(tmp_path, "", made_by, "nonsense", recipe)
        maker(ShardTask("shard-00000.parquet", []), lambda steps: None)
    assert not list(tmp_path.iterdir())


def test_folders_named_like_what_is_no_folder_are_left_alone(whole, tmp_path, monkeypatch):
    source, recipe, _ = whole
    monkeypatch.chdir(tmp_path)
    for name in ("none", "contextual", "lead", "discsum-gum"):
        (tmp_path / name).mkdir()
        assert absolute(name) == name
    (tmp_path / "none" / "config.json").write_text("{}")
    noted = []
    named = replace(recipe, encoder="none")
    job = preprocess_job(source.pairs(0, 2), source.identity(), tmp_path / "set", named)
    make_all(job, RunOptions(engine=Noting(noted)))
    assert noted[0].recipe.encoder == "none"


def test_a_worker_with_another_encoder_refuses(whole, encoder_folder, tmp_path):
    _, recipe, _ = whole
    folder = shutil.copytree(encoder_folder, tmp_path / "encoder")
    encoded = replace(recipe, encoder=str(folder), units=("sentence",))
    maker = DatasetMaker(tmp_path, "", makers(encoded), "cpu", encoded)
    assert maker.encoder is not None
    weights = load_file(folder / "model.safetensors")
    save_file({name: value + 1e-3 for name, value in weights.items()}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(WeightsError, match=r"encoder: expected the encoder that the run began with"):
        _ = replace(maker, device="cpu").encoder


def test_warnings_about_texts_reach_the_user(engine):
    with pytest.warns(InputWarning, match=r"^text 1 looks odd$"):
        assert list(engine.results_of(warn_of, [1])) == [1]
