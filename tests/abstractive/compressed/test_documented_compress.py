"""The example of docs/faster_encoders.md runs as it stands, on a model with random weights."""

from documented import ROOT, blocks
from tiny_bart import make_bart


def test_the_example_of_compressed_encoders(inputs):
    model = make_bart()
    (example,) = blocks(ROOT / "docs" / "faster_encoders.md", "python")
    exec(example.content, {"model": model, "inputs": inputs.generate})
    assert model.compressed.config.blocks == 4
