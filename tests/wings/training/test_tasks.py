import datetime
import random

import pytest

from headlight.wings.training.small_models import default_options
from headlight.wings.training.tasks import TASKS, is_unseen


def pairs(task, count=300, seed=0):
    options, chance = default_options(task.name), random.Random(seed)
    return [task.pair(chance, options.shortest, options.longest) for _ in range(count)]


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.name)
def test_pairs_are_right_within_the_alphabet_and_the_same_for_a_seed(task):
    made = pairs(task)
    assert made == pairs(task) != pairs(task, seed=1)
    for source, target in made:
        assert task.answer(source) == target
        assert {*source, *target} <= set(task.alphabet)
    assert task.answer(task.example)


@pytest.mark.parametrize("name", ["reverse", "copy", "sort"])
def test_lengths_are_those_asked_for(name):
    lengths = {len(TASKS[name].pair(random.Random(seed), 3, 7)[0]) for seed in range(200)}
    assert lengths == {3, 4, 5, 6, 7}


def test_answers_are_those_of_a_direct_computation():
    for source, target in pairs(TASKS["reverse"]):
        assert target == "".join(reversed(source))
    for source, target in pairs(TASKS["sort"]):
        assert len(target) == len(source)
        assert all(target.count(digit) == source.count(digit) for digit in set(source))
        assert list(map(int, target)) == sorted(map(int, target))
    for source, target in pairs(TASKS["add"]):
        assert int(target) == eval(source)
        assert str(int(target)) == target
    for source, target in pairs(TASKS["dates"]):
        day = datetime.datetime.strptime(source, "%B %d, %Y").date()
        assert target == day.isoformat()


def test_sums_have_numbers_of_every_length():
    sources = [source for source, _ in pairs(TASKS["add"])]
    lengths = {tuple(map(len, source.split("+"))) for source in sources}
    assert lengths == {(first, second) for first in (1, 2, 3) for second in (1, 2, 3)}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("reverse", "", "digits only"),
        ("copy", "12a", "digits only"),
        ("sort", "١٢", "digits only"),
        ("reverse", "12\n", "digits only"),
        ("reverse", "1" * 61, "at most 60"),
        ("add", "27-3", "plus sign"),
        ("add", "007+1", "plus sign"),
        ("dates", "2021-03-03", "such as March 3, 2021"),
        ("dates", "March 3, 1200", "from 1900 to 2099"),
        ("dates", "February 29, 2021", "February 2021 has 28 days"),
        ("dates", "April 0, 2021", "such as March"),
    ],
)
def test_other_text_is_refused_with_a_sentence(name, text, sentence):
    with pytest.raises(ValueError, match=sentence):
        TASKS[name].answer(text)


@pytest.mark.parametrize("task", TASKS.values(), ids=lambda task: task.name)
def test_about_one_in_ten_sources_is_kept_from_training(task):
    sources = {source for source, _ in pairs(task, 3_000)}
    assert 0.07 < sum(map(is_unseen, sources)) / len(sources) < 0.13
