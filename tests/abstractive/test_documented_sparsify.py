"""The examples of docs/abstractive.md run as they stand, on a model with random weights."""

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
    example, _ = blocks(ROOT / "docs" / "abstractive.md", "python")
    known = {"model": model, "documents": documents, "encoding": encoding, "inputs": inputs}
    exec(example.content, known)
    assert known["layout"].spans == [known["layout"].spans[0]] * 2
    assert model.sparse.r == 5


def test_the_example_of_a_summarizer(tmp_path, capsys):
    PreTrainedTokenizerFast(tokenizer_object=tiny.make_tokenizer(), pad_token="[PAD]").save_pretrained(tmp_path)
    make_bart(vocab_size=len(tiny.WORDS) + 100).save_pretrained(tmp_path)
    _, example = blocks(ROOT / "docs" / "abstractive.md", "python")
    exec(
        example.content.replace("hf:facebook/bart-large-cnn", str(tmp_path)),
        {"text": "The river rose. The mill stopped."},
    )
    assert capsys.readouterr().out.endswith("\n")
