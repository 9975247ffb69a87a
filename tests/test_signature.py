"""Signatures: their text, reading it back, and what they refuse."""

from importlib.metadata import version

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discsum.errors import InputError
from discsum.metrics.rouge import signature
from discsum.selection import Budget, Policy, default_policy
from discsum.signature import SHORT, Signature

VERSION = version("discsum")
KEYS = st.one_of(
    st.sampled_from([*SHORT, *SHORT.values()]), st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,9}", fullmatch=True)
).filter(lambda key: key not in ("version", "#"))
VALUES = st.one_of(
    st.text(min_size=1), st.integers(), st.booleans(), st.floats(), st.lists(st.text(min_size=1), min_size=1)
)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_the_text_splits_into_its_fields(values):
    made = Signature.of(**values)
    text = str(made)
    assert not any(letter.isspace() or letter == "," for letter in text)
    *fields, last = (tuple(field.split(":", 1)) for field in text.split("|"))
    assert tuple(fields) == made.fields
    assert last == ("version", VERSION)
    assert [key for key, _ in made.fields] == list(values)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_both_forms_are_read_back(values):
    made = Signature.of(**values)
    assert Signature.parse(str(made)) == Signature.parse(made.short) == made


def test_a_setting_named_like_an_abbreviation_is_kept():
    own = Signature.of(unit="edu", k=3)
    assert own.short == str(own) == f"unit:edu|k:3|version:{VERSION}"
    assert Signature.of(unit="edu").short == f"u:edu|v:{VERSION}"


def test_each_short_key_stands_for_one_key():
    assert len(set(SHORT.values())) == len(SHORT)
    assert not set(SHORT.values()) & set(SHORT)


@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_adding_changes_nothing_that_is_there(values):
    made = Signature.of(**values)
    assert made + made == made
    assert made + Signature.of() == made == Signature.of() + made
    assert Signature() + made == made


def test_golden_texts():
    edus = default_policy("edu", block_trigrams=True).signature
    assert str(edus) == f"unit:edu|units:6|dependencies:yes|block-trigrams:yes|layout:keep|version:{VERSION}"
    assert edus.short == f"u:edu|n:6|dep:yes|bt:yes|l:keep|v:{VERSION}"
    ratio = Policy(Budget(ratio=0.25)).signature
    assert str(ratio) == f"unit:sentence|ratio:0.25|layout:keep|version:{VERSION}"
    assert str(Policy(Budget(ratio=0.1234567)).signature).startswith("unit:sentence|ratio:0.1234567|")
    assert str(Signature.of(a=3.0, b=1e-5, c=1e6)) == f"a:3|b:1e-05|c:1000000|version:{VERSION}"
    whole = (signature() + ratio).with_(bs=10_000, ci=0.95)
    assert str(whole).startswith("metrics:rouge1+rouge2+rougeLsum|measure:f|stem:porter|split:newline|refs:max|scorer:")
    assert str(whole).endswith(f"|unit:sentence|ratio:0.25|layout:keep|bs:10000|ci:0.95|version:{VERSION}")


def test_what_a_value_may_not_have_is_coded():
    assert str(Signature.of(parser="my parser, 50%|x")) == f"parser:my%20parser%2C%2050%25%7Cx|version:{VERSION}"


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: Signature((("a", "b c"),)), "a: expected a value without spaces, commas and |, got 'b c'"),
        (lambda: Signature((("a", ""), ("b d", "1"))), "b d: expected a key of letters.*; a: expected a value"),
        (lambda: Signature.of(a=1).with_(a=2), "a: expected each key once"),
        (lambda: Signature.of(units=1) + Signature.of(units=2), "units: expected each key once"),
        (lambda: Signature.parse("rouge1|f"), "expected key:value fields joined by |, got 'rouge1|f'"),
        (lambda: Signature((("version", "1"), ("unit", "edu"))), "version: expected each key once, version last"),
        (lambda: Signature((), "1") + Signature((), "2"), "one version of discsum, got 1 and 2"),
    ],
)
def test_what_is_no_signature(make, problem):
    with pytest.raises(InputError, match=problem.replace("|", r"\|")):
        make()
