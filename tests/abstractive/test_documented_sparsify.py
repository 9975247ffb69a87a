"""The example of docs/abstractive.md runs as it stands, on a model with random weights."""

import tiny
from documented import ROOT, blocks
from tiny_bart import make_bart
from transformers import PreTrainedTokenizerFast

from discsum.document import Document


def test_the_example_of_sparse_attention():
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=tiny.make_tokenizer(), pad_token="[PAD]")
    documents = [Document.from_edu_texts(["The river rose.", "The mill stopped."]) for _ in range(2)]
    encoding = tokenizer([document.text for document in documents], return_tensors="pt")
    inputs = {name: encoding[name] for name in ("input_ids", "attention_mask")}
    model = make_bart(vocab_size=len(tokenizer))
    (example,) = blocks(ROOT / "docs" / "abstractive.md", "python")
    known = {"model": model, "documents": documents, "encoding": encoding, "inputs": inputs}
    exec(example.content, known)
    assert known["layout"].spans == [known["layout"].spans[0]] * 2
    assert model.sparse.r == 5
