"""Checks of a summarizer recipe that run before its tables are preprocessed, which may take hours."""

from __future__ import annotations

from pathlib import Path

from discsum.constants import VECTORS
from discsum.data.made_folder import is_dataset_folder
from discsum.data.manifest import Manifest
from discsum.data.prepared import check_folders, path_of
from discsum.parsers.loading import load_parser
from discsum.parsers.unit_encoders import UnitEncoder, identity
from discsum.summarizer.folder import SummarizerConfig
from discsum.summarizer.training.recipe import SummarizerRecipe
from discsum.summarizer.training.sources import UnitData
from discsum.summarizer.training.start import check_sentence_model, check_start


def check_settings(recipe: SummarizerRecipe, data: Path) -> None:
    """Check the parser, the encoder, the other summarizers and the dataset folders of a recipe.

    Args:
        recipe: All settings.
        data: Folder that paths of sources are relative to; URLs are used as they are.

    Raises:
        InputError: An encoder with fewer layers, a `start` model on other vectors, or a dataset folder
            made with other options.
        WeightsError: No such parser, encoder, `start` model or summarizer of sentences.
    """
    parser = load_parser(recipe.parser)
    sources = (*recipe.train, *recipe.validation)
    check_folders(sources, data, UnitData(recipe))
    paths = [path_of(source, data) for source in sources]
    made = [path for path in paths if is_dataset_folder(path)]
    if recipe.encodes:
        UnitEncoder.load(recipe.vectors, parser, layers=recipe.encoder_layers, window=recipe.encoder_window)
    elif len(made) < len(paths):
        # Only tables need the encoder: dataset folders already have vectors.
        UnitEncoder.load(recipe.vectors, parser)
    if recipe.sentence_model is not None:
        check_sentence_model(recipe.sentence_model, recipe.parser)
    if recipe.start is not None:
        encoder = ""
        if recipe.vectors not in VECTORS:
            # As in training: the encoder of the vectors in a dataset folder, or the encoder itself.
            stored = [Manifest.read(path).recipe["made_by"].get("encoder", "") for path in made]
            encoder = stored[0] if stored and not recipe.encodes else identity(recipe.vectors)["encoder"]
        config = SummarizerConfig(
            "", vectors=recipe.vectors, encoder=encoder, encoder_layers=recipe.encoder_layers, parser=recipe.parser
        )
        check_start(recipe.start, config)
