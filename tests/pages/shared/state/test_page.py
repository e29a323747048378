"""What must be true of the record of every page."""

from itertools import groupby

from headlight.pages.parts.pages import PAGES
from tests.pages.apps import ROOT


def test_no_two_pages_have_a_name_in_common():
    for name in ("key", "file", "title"):
        assert len({getattr(page, name) for page in PAGES.values()}) == len(PAGES)


def test_a_page_is_listed_by_its_key_and_opened_by_its_file():
    for page in PAGES.values():
        assert PAGES[page.key] is page
        source = (ROOT / page.file).read_text(encoding="utf-8")
        assert f'open_page("{page.key}")' in source
        assert page.purpose


def test_the_pages_of_a_group_stand_together():
    groups = [name for name, _ in groupby(page.group for page in PAGES.values())]
    assert len(set(groups)) == len(groups)


def test_a_key_means_one_choice_on_every_page():
    for page in PAGES.values():
        keys = [choice.key for choice in page.linked]
        assert len(set(keys)) == len(keys)
        for other in PAGES.values():
            for choice in other.linked:
                assert choice.key not in keys or choice in page.linked, choice.key


def test_a_key_can_stand_in_a_link_and_in_a_style():
    for page in PAGES.values():
        for choice in page.linked:
            assert choice.key.isidentifier()
            assert choice.key.isascii()


def test_the_default_of_a_choice_is_one_of_its_options():
    for page in PAGES.values():
        for choice in page.linked:
            assert not choice.options or choice.default in choice.options
            if isinstance(choice.bounds, tuple):
                lowest, highest = choice.bounds
                assert lowest <= choice.default <= highest
                assert type(lowest) is type(highest) is type(choice.default), choice.key
