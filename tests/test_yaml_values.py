import pytest

from discsum.errors import InputError
from discsum.recipes import read_recipe
from discsum.recipes.yaml_values import MOST_BYTES, parse_yaml, read_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-4", "1e-4"),
        ("3", 3),
        ("[a, 1]", ["a", 1]),
        ("", None),
        ("2020-02-03", "2020-02-03"),
        ("2020-99-99", "2020-99-99"),
    ],
)
def test_values(text, value):
    assert parse_yaml(text, "here") == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[[[", "here: expected YAML, "),
        ("a: 1\nb: [2\n", r"here:3: expected YAML, "),
        ("a: " + "[" * 5000 + "]" * 5000, "here: expected YAML with fewer nested levels"),
        ("a: &one [1]\nb: *one\n", "here:2: expected YAML, expected values in full, got an alias"),
        ("a: 1\nb: 2\na: 3\n", "here:3: expected YAML, expected a once, got it again"),
        ("!!python/object/apply:os.getcwd []", "here: expected YAML, could not determine a constructor"),
        ("a\x00b", "here: expected YAML, got "),
        ("a: !!bool 'abc'", "here: expected YAML, got "),
        ("a: !!timestamp 'abc'", "here: expected YAML, got "),
        ("a: !!int ''", "here: expected YAML, got "),
        ('a: "\\U99999999"', "here: expected YAML, got "),
        ("{[a]: 1}", "here: expected YAML, found unhashable key"),
    ],
)
def test_what_is_no_plain_yaml(text, message):
    with pytest.raises(InputError, match=message) as raised:
        parse_yaml(text, "here")
    assert "\n" not in str(raised.value)


def test_anchors_cannot_fill_the_memory():
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)]
    with pytest.raises(InputError, match="got an alias"):
        parse_yaml("\n".join(lines), "here")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("name: b\xe9\n".encode("latin-1"), "expected YAML in UTF-8, got byte 7 that is not"),
        (b"# " + b"x" * MOST_BYTES, "expected at most .* bytes, got more"),
        (b"- a\n", r"expected the fields of a recipe, such as 'base: parser-gum-first', got \['a'\]"),
        (b"# nothing\n", "expected the fields of a recipe, such as 'base: parser-gum-first', got an empty file"),
    ],
)
def test_recipes_that_are_none(tmp_path, content, message):
    (tmp_path / "recipe.yaml").write_bytes(content)
    with pytest.raises(InputError, match=f"recipe.yaml: {message}"):
        read_recipe(str(tmp_path / "recipe.yaml"))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"no\.yaml: expected a YAML file: No such file"):
        read_yaml(tmp_path / "no.yaml")
