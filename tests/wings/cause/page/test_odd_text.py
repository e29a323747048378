from tests.pages.test_odd_text import expect_cut


def test_the_page_says_once_that_a_text_is_cut():
    expect_cut("cause")
