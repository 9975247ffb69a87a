"""Mistakes in summarizer recipes that `discsum train` reports before it preprocesses a document."""

import pytest
from small_news import write_recipe, write_table


@pytest.fixture
def recipe(tmp_path, parser_folder):
    write_table(tmp_path / "train.jsonl", 0, 6)
    write_table(tmp_path / "validation.jsonl", 50, 53)
    return write_recipe(tmp_path, parser_folder, units=1, epochs=1, batch_size=3, synthesizer={"inner": 16})


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("synthesizer.head=mixed", "synthesizer.mixture: expected names of single heads, as many as heads=1, got none"),
        ("start=nosuch", "nosuch: expected a folder with config.json and model.safetensors, or a shipped model"),
        ("start=discsum-news-edu", "start: expected a summarizer on contextual vectors of"),
        ("unit=edu sentence_model=nosuch", "nosuch: expected a folder with config.json and model.safetensors"),
        (
            "unit=edu sentence_model=discsum-news-edu",
            "sentence_model: expected a summarizer of sentences, got discsum-news-edu of the unit edu",
        ),
        (
            "unit=edu sentence_model=discsum-news-sentence",
            "but discsum-news-sentence is on those of discsum-gum; set sentence_model=null",
        ),
        ("encoder_layers=50", "encoder_layers: expected at most 2, the encoder's number of layers, got 50"),
        ("vectors=nosuch/xx", "nosuch/xx: "),
        ("parser=nosuch", "nosuch: expected a folder with config.json"),
        (
            "validation=[{path: gone.jsonl}]",
            "gone.jsonl: expected a dataset folder or a table, found neither; set data=FOLDER to the folder of gone",
        ),
        (
            "validation=[{path: validation.jsonl, text_column: body}]",
            "expected a column body, got the columns id",
        ),
        ("train=[{path: train.jsonl, last: 100}]", "train[0]: expected rows 0 to 100 of train.jsonl, got 6"),
        ("train=[{path: train.jsonl, first: 6}]", "train[0]: expected rows 6 to the end of train.jsonl, got 6"),
        ("validation=[{path: validation.jsonl, first: 1, last: 4}]", "validation[0]: expected rows 1 to 4 of"),
        ("sample=100", "sample: expected at most the 6 documents of train, got 100; set sample=null for all"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_a_table_is_preprocessed(discsum, recipe, tmp_path, setting, message):
    settings = [setting] if "[" in setting else setting.split()
    result = discsum("train", recipe, *settings, "-o", tmp_path / "runs" / "one")
    assert (result.code, result.out) == (1, "")
    assert message in result.err
    assert len(result.err.splitlines()) == 1
    assert not [*(tmp_path / "runs").glob("*")]


def test_dataset_folders_are_checked_before_a_table_is_preprocessed(discsum, recipe, parser_folder, tmp_path):
    options = ("--parser", parser_folder, "--encoder", "contextual", "--oracle", "kedzie")
    assert discsum("preprocess", tmp_path / "validation.jsonl", tmp_path / "validation", *options).code == 0
    result = discsum("train", recipe, "validation=[{path: validation}]", "-o", tmp_path / "runs" / "one")
    assert (
        "expected a dataset folder made as the recipe says, found one made differently (oracle 'kedzie' there"
        in result.err
    )
    settings = ("oracle=kedzie", "validation=[{path: validation, last: 4}]")
    result = discsum("train", recipe, *settings, "-o", tmp_path / "runs" / "one")
    assert "validation[0]: expected rows 0 to 4 of validation, got 3" in result.err
    assert not (tmp_path / "runs" / "datasets").exists()


def test_rows_of_a_table_of_records_are_counted(discsum, recipe, tmp_path):
    (tmp_path / "train.csv").write_text('text,summary\n"Rain\nfell.",Rain.\nSun shone.,Sun.\n')
    for source, code in (("last: 2", 0), ("last: 3", 1)):
        setting = f"train=[{{path: train.csv, {source}}}]"
        result = discsum("train", recipe, setting, "-o", tmp_path / f"run{code}")
        assert (result.code, "train[0]: expected rows 0 to 3 of train.csv, got 2" in result.err) == (code, bool(code))


def test_the_first_row_that_is_read_has_the_columns_and_vain_fields_warn(discsum, recipe, tmp_path):
    table = tmp_path / "train.jsonl"
    table.write_text('{"corpus": "six articles"}\n' + table.read_text())
    result = discsum("train", recipe, "train=[{path: train.jsonl}]", "-o", tmp_path / "none")
    assert (result.code, "expected a column article or text, got the columns corpus" in result.err) == (1, True)
    settings = ("train=[{path: train.jsonl, first: 1}]", "temperature=0.2")
    result = discsum("train", recipe, *settings, "-o", tmp_path / "run")
    warning = "discsum: temperature: 0.2 has no effect without the list-wise loss (listwise)\n"
    assert (result.code, warning in result.err) == (0, True)


def test_rows_that_failed_are_not_in_a_sample(discsum, recipe, tmp_path):
    with (tmp_path / "train.jsonl").open("a") as table:
        table.write('{"text": "", "summary": "None."}\n')
    result = discsum("train", recipe, "sample=7", "-o", tmp_path / "run")
    assert (result.code, "sample: expected at most the 6 documents of train, got 7" in result.err) == (1, True)


def test_a_run_that_began_does_not_need_its_start_any_more(discsum, recipe, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    assert discsum("train", recipe, "-o", first).code == 0
    command = ("train", recipe, f"start={first / 'best'}", "-o", second)
    assert discsum(*command).code == 0
    first.rename(tmp_path / "elsewhere")
    assert discsum(*command).code == 0
