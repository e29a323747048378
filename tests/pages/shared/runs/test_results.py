from dataclasses import dataclass
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from headlight.pages.shared.runs.door import Result, ResultKey, Results, size_of


def put(results, key, size=1, kind="kind", session="one"):
    results.put(ResultKey(session, kind, key), Result(key, size))


def kept(results, keys, kind="kind", session="one"):
    return [key for key in keys if results.get(ResultKey(session, kind, key))]


def test_what_was_used_last_stays():
    results = Results(100, 100, 2)
    put(results, "a")
    put(results, "b")
    assert kept(results, "a")
    put(results, "c")
    assert kept(results, "abc") == ["a", "c"]


def test_each_kind_has_its_own_number_and_all_share_the_bytes():
    results = Results(100, 10, 2)
    for kind in ("one", "other"):
        for key in "abc":
            put(results, key, 2, kind)
    assert [kept(results, "abc", kind) for kind in ("one", "other")] == [["b", "c"], ["b", "c"]]
    put(results, "d", 5, "third")
    assert results.size <= 10
    assert kept(results, "d", "third")
    assert not kept(results, "bc", "one")


def test_what_is_too_large_is_not_kept_and_pushes_nothing_out():
    results = Results(100, 10, 4)
    put(results, "a", 9)
    put(results, "b", 11)
    assert kept(results, "ab") == ["a"]


def test_a_result_put_again_counts_once():
    results = Results(100, 10, 2)
    for size in (3, 4, 5):
        put(results, "a", size)
    put(results, "b", 5)
    assert kept(results, "ab") == ["a", "b"]
    assert results.size == 10


def test_nothing_of_a_session_is_left_after_it_is_dropped():
    results = Results(100, 10, 2)
    for session in ("one", "two"):
        put(results, "a", 5, session=session)
    results.drop("one")
    assert results.size == 5
    assert not kept(results, "a")
    assert kept(results, "a", session="two")


def test_threads_share_it():
    results, errors = Results(100, 50, 3), []

    def work(first):
        try:
            for number in range(300):
                put(results, (first, number % 7), number % 20)
                kept(results, [(first, number % 5)])
        except Exception as error:
            errors.append(error)

    threads = [Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(kept(results, [(first, n) for first in range(8) for n in range(7)])) <= 3
    assert results.size <= 50


def test_all_sessions_share_the_bytes_and_what_was_not_used_for_longest_makes_room():
    results = Results(10, 10, 4)
    for session in ("one", "two"):
        put(results, "a", 4, session=session)
    assert kept(results, "a", session="one")
    put(results, "a", 4, session="three")
    sessions = ("one", "two", "three")
    assert [kept(results, "a", session=session) for session in sessions] == [["a"], [], ["a"]]
    put(results, "b", 10, session="three")
    assert results.size == 10


@dataclass
class Record:
    scores: object
    weights: object


def test_memory_that_stands_in_two_fields_counts_once():
    tensor = torch.zeros(1_000)
    array = np.zeros(1_000)
    one = size_of(Record(tensor, None))
    assert 4_000 <= one <= 4_500
    assert size_of(Record(tensor, tensor[:500])) - one < 500
    assert 8_000 <= size_of(Record(array, array[::2])) <= 8_500
    assert 12_000 <= size_of({"a": [tensor], ("b",): (array,)}) <= 13_000


@pytest.mark.parametrize("shared", [torch.nn.Linear(100, 100), torch.nn.Linear])
def test_a_network_is_no_part_of_a_result(shared):
    assert size_of(SimpleNamespace(model=shared)) < 1_000


def test_what_refers_to_itself_is_measured_too():
    circle = SimpleNamespace()
    circle.itself = circle
    assert 0 < size_of(circle) < 1_000


def test_the_parts_of_a_decoding_are_counted(shipped):
    decoding = shipped.write("I love my cat.")
    logits = sum(step.log_probabilities.nbytes for step in decoding.steps_to(decoding.path))
    assert logits < size_of(decoding) < 50_000_000
