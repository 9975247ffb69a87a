import threading

import numpy as np
import pytest

from discsum.batches import ahead, batches, failing_alone, map_ahead, named
from discsum.errors import DiscsumError, InputError, WeightsError


def test_so_many_at_a_time():
    assert list(batches(range(5), 2)) == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize("size", [0, -1, 2.5])
def test_a_batch_has_an_item(size):
    with pytest.raises(InputError, match=f"batch_size: expected a whole number of at least 1, got {size}"):
        list(batches([1], size))


@pytest.mark.parametrize("items", [[], [1, 2, 3], [1, -2, 3], [-1, -2]])
def test_an_item_fails_alone(items):
    asked = []

    def halves(some):
        asked.append(len(some))
        if min(some) < 0:
            raise InputError(f"got {min(some)}")
        return [item / 2 for item in some]

    found = list(failing_alone(halves, items))
    assert [str(one) if isinstance(one, DiscsumError) else one for one in found] == [
        f"got {item}" if item < 0 else item / 2 for item in items
    ]
    assert asked == ([] if not items else [len(items)] if min(items) > 0 else [len(items), *[1] * len(items)])


def test_a_model_that_cannot_be_used_is_no_items_fault():
    asked = []

    def work(items):
        asked.append(items)
        raise WeightsError("gone")

    with pytest.raises(WeightsError, match="gone"):
        list(failing_alone(work, [1, 2]))
    assert asked == [[1, 2]]


def test_the_next_item_is_made_while_one_is_used():
    made, places = [threading.Event() for _ in range(4)], set()

    def items():
        for number, event in enumerate(made):
            event.set()
            places.add(threading.current_thread())
            yield number

    for number in ahead(items()):
        assert number + 1 == len(made) or made[number + 1].wait(10)
        assert not any(event.is_set() for event in made[number + 2 :])
    assert number == 3
    assert threading.current_thread() not in places
    assert list(ahead([])) == []


def test_what_fails_ahead_fails_where_it_is_asked_for():
    def items():
        yield 1
        raise InputError("no second")

    coming = ahead(items())
    assert next(coming) == 1
    with pytest.raises(InputError, match="no second"):
        next(coming)


def test_results_are_computed_together_and_yielded_in_order():
    together = threading.Barrier(3, timeout=10)

    def square(item):
        if item < 3:
            # Passes only when three items are computed at the same time.
            together.wait()
        return item * item

    assert list(map_ahead(square, range(20), 3)) == [item * item for item in range(20)]
    assert list(map_ahead(square, [], 3)) == []


@pytest.mark.parametrize("count", [0, 2])
def test_results_ahead_are_few_and_fail_in_their_place(count):
    asked = []

    def work(item):
        asked.append(item)
        if item == 1:
            raise InputError("no second")
        return item

    coming = map_ahead(work, range(100), count)
    assert asked == []
    assert next(coming) == 0
    with pytest.raises(InputError, match="no second"):
        next(coming)
    assert len(asked) <= 2 + max(0, count - 1)


def test_no_result_is_computed_after_closing():
    asked, threads = [], set()

    def work(item):
        asked.append(item)
        threads.add(threading.current_thread())
        return item

    coming = map_ahead(work, range(100), 2)
    assert next(coming) == 0
    coming.close()
    assert not any(thread.is_alive() for thread in threads)
    assert len(asked) <= 3


def test_results_without_threads_are_computed_when_needed():
    places = list(map_ahead(lambda item: threading.current_thread(), [1, 2], 0))
    assert places == [threading.current_thread()] * 2


def test_items_before_one_that_fails_are_not_lost():
    found = []
    with pytest.raises(TypeError, match="text 4: expected str, got NoneType"):
        found.extend(batches(named(["a", "b", "c", "d", None, "e"], None), 3))
    assert [[text for text, _ in batch] for batch in found] == [["a", "b", "c"], ["d"]]


def test_names_of_texts():
    assert list(named(["ab"], None)) == [("ab", "")]
    assert list(named(iter(["a", "b"]), iter(["x", "y"]))) == [("a", "x"), ("b", "y")]
    with pytest.raises(InputError, match="ids: expected a name for each text, got only 1 names"):
        list(named(["a", "b"], ["x"]))
    with pytest.raises(InputError, match="ids: expected a name for each text, got more names than the 1 texts"):
        list(named(["a"], ["x", "y"]))


def test_whole_numbers_are_names():
    assert list(named(["a", "b"], np.arange(2))) == [("a", "0"), ("b", "1")]
    assert [len(batch) for batch in batches([1, 2, 3], np.int64(2))] == [2, 1]


@pytest.mark.parametrize(
    ("texts", "ids", "message"),
    [
        (["a", "b"], ["x", 2.5], "id: expected str, got 2.5"),
        (["a", "b"], ["x", True], "id: expected str, got True"),
        (["a", "b"], ["x", None], "id: expected str, got None"),
        # Not one name per letter.
        (["a", "b"], "xy", "ids: expected several names, got one str 'xy'"),
        ("ab", ["x", "y"], "texts: expected several texts, got one str"),
        ({"a"}, None, "texts: expected several texts in order, got a set; sort it, or use a list"),
        (["a", float("nan")], None, "text 1: expected str, got float"),
        (["a", b"b"], ["x", "y"], "text y: expected str, got bytes"),
        (
            {"x": "a"},
            None,
            "texts: expected several texts, got a dict, which iterates over its keys or columns; name the texts in it, "
            "as in texts.values() or table['text']",
        ),
    ],
)
def test_names_that_are_none(texts, ids, message):
    with pytest.raises(TypeError) as raised:
        list(named(texts, ids))
    assert str(raised.value) == message
