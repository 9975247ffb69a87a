"""Headers of model cards, which the hub reads as YAML."""

import yaml

from discsum.persistence import card_header


def test_any_value_comes_back():
    fields = {"license": "CC BY: see its page", "language": "no", "tags": ["summarization", "rst"], "base_model": "x/y"}
    header = card_header(**fields)
    begin, content, end = header.split("---\n")
    assert (begin, end) == ("", "") and yaml.safe_load(content) == fields
    assert "tags: [summarization, rst]\n" in content


def test_empty_fields_are_left_out():
    assert card_header(license="", language="en", tags=["rst"]) == "---\nlanguage: en\ntags: [rst]\n---\n"
