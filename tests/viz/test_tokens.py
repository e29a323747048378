from headlight.viz.tokens import aligned, and_written, by_marks


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


def test_pieces_are_joined_by_the_marks_of_their_vocabulary():
    for tokens, texts, words in (
        (
            ["[CLS]", "walk", "##ing", "##", "[SEP]"],
            ["[CLS]", "walk", "ing", "##", "[SEP]"],
            "01123",
        ),
        (
            ["<s>", "▁the", "▁c", "at", "</s>", "▁"],
            ["<s>", "the", "c", "at", "</s>", "▁"],
            "012234",
        ),
        (["The", "Ġc", "at", "ĠĠ", "<0x0A>"], ["The", "c", "at", "Ġ", "<0x0A>"], "01122"),
        (["The", " c", "at", "##x"], ["The", "c", "at", "##x"], "0111"),
        (["The", "c", "at"], ["The", "c", "at"], "012"),
        ([], [], ""),
    ):
        assert by_marks(tokens) == (texts, [int(number) for number in words])
