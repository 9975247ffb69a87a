import pytest
import small_treebank
import tiny
import torch
from hypothesis import settings

from discsum.encoder.features import COUNT
from discsum.encoder.synthesizer import Synthesizer, SynthesizerConfig
from discsum.parsers.parser import Parser
from discsum.summarizer.extractive import ExtractiveSummarizer
from discsum.summarizer.folder import SummarizerConfig

# Tests fail neither because a machine is busy nor because of a random seed.
settings.register_profile("discsum", deadline=None, derandomize=True)
settings.load_profile("discsum")
torch.set_num_threads(1)


@pytest.fixture(scope="module")
def bfloat16_everywhere():
    """Train parsers in bfloat16 on every machine: tiny ones are fast enough on CPUs without instructions for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discsum.parsers.training.task.has_fast_bfloat16", lambda device: True)
        yield


@pytest.fixture(scope="session")
def tokenizer():
    return tiny.make_tokenizer()


@pytest.fixture(scope="session")
def parser():
    """Return a parser with random weights."""
    return tiny.make_parser()


@pytest.fixture(scope="session")
def parser_folder(parser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny-parser"
    parser.save_pretrained(folder, card="# A parser with random weights\n")
    return folder


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """Return a Hugging Face folder of a tiny encoder and its tokenizer."""
    return tiny.save_encoder(tmp_path_factory.mktemp("models") / "tiny-encoder")


@pytest.fixture(scope="session")
def summarizer_folders(parser_folder, tmp_path_factory):
    """Return the folders of summarizers with random weights, by unit; both use the tiny parser."""
    parser, folders = Parser.from_pretrained(parser_folder), {}
    for unit in ("sentence", "edu"):
        torch.manual_seed(7)
        network = Synthesizer(SynthesizerConfig(width=32, features=COUNT, inner=16, scorer=8))
        config = SummarizerConfig(name=f"tiny-{unit}", unit=unit, parser=str(parser_folder), units=2)
        folders[unit] = tmp_path_factory.mktemp("models") / config.name
        ExtractiveSummarizer(network, config, parser).save_pretrained(folders[unit])
    return folders


@pytest.fixture(scope="session")
def treebank(tmp_path_factory):
    """Return the folder of a small treebank: two training documents and one for validation."""
    folder = tmp_path_factory.mktemp("gum")
    small_treebank.write(folder)
    return folder
