from headlight.viz.tokens import aligned, and_written


def test_a_label_has_what_is_read_and_what_is_written_if_anything_is():
    assert and_written(["elle", "→", "."], ["était", "x", ""]) == ["elle → était", "→ → x", "."]


def test_queries_that_read_the_same_token_correspond_whatever_they_write():
    first = and_written(["elle", "était", "trop"], ["était", "trop", "."])
    second = and_written(["elle", "trop"], ["trop", "vite"])
    assert aligned(first, second) == [(0, 0), (1, None), (2, 1)]


def test_words_that_change_places_leave_the_one_between_them_matched():
    texts = "Le garçon voit la fille .", "La fille voit le garçon ."
    first, second = (text.split() for text in texts)
    for pairs in (aligned(first, second), aligned(second, first)):
        assert [pair for pair in pairs if None not in pair] == [(2, 2), (5, 5)]
