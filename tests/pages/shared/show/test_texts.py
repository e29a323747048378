"""What is said of two texts, and what is marked in them."""

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


def test_a_sentence_has_one_full_stop_whatever_it_quotes():
    assert ended("The beam writes “Tu as l'air occupé.”") == "The beam writes “Tu as l'air occupé.”"
    assert ended("It loses “faim”") == "It loses “faim”."
