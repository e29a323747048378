"""What is said of two texts, and what is marked in them."""

import re

from hypothesis import given
from hypothesis import strategies as st

from headlight.pages.shared.show.texts import ended, new_words, what_became


def test_the_words_that_are_marked_are_those_that_the_sentence_names():
    before = "Le chien mangea la viande parce qu'il avait faim."
    after = "Le chien avait faim car c'était la viande."
    assert what_became(before, after) == (
        "loses “mangea la viande parce qu'il”, gains “car c'était la viande”"
    )
    gained, lost = new_words(before, after), new_words(after, before)
    assert [word[0] for word in gained] == ["car", "c'", "était", "la", "viande"]
    assert [word[0] for word in lost] == ["mangea", "la", "viande", "parce", "qu'", "il"]
    assert what_became(before, before) == "stays the same"
    assert what_became("Le chat dort.", "Le chat noir dort.") == "gains “noir”"
    assert what_became("Le chat dort.", "Le chien dort.") == "has “chien” in place of “chat”"
    assert what_became(before, "Je suis là.") == "becomes “Je suis là.”"
    assert what_became(before, "x" * 99) == f"becomes “{'x' * 59}…”"
    assert what_became(before, "") == "is empty"


@given(st.lists(st.sampled_from(["chef", "du", "le", "vu"]), min_size=1, max_size=8))
def test_changes_that_are_alike_are_said_once(words):
    text = " ".join(f"{word}." for word in words)
    changes = what_became(text, re.sub(r"chef\.", "du chef.", text)).split(", ")
    assert len(changes) == len(set(changes))


def test_a_change_in_several_places_says_in_how_many():
    twice = "Le serveur fut remercié par le chef du serveur et le chef du serveur."
    once = "Le serveur fut remercié par le serveur et le serveur."
    assert what_became(once, twice) == "gains “chef du” in 2 places"
    assert what_became(twice, once) == "loses “chef du” in 2 places"


def test_a_sentence_has_one_full_stop_whatever_it_quotes():
    assert ended("The beam writes “Tu as l'air occupé.”") == "The beam writes “Tu as l'air occupé.”"
    assert ended("It loses “faim”") == "It loses “faim”."
