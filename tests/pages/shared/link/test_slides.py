"""Slides of a talk, and the file that a talk is kept in."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.parts.pages import PAGES
from pages.shared.link import address, link
from pages.shared.link.slides import (
    FORMAT,
    LARGEST_FILE,
    LONGEST_TITLE,
    LONGEST_WORDS,
    MOST_SLIDES,
    OLD_PAGES,
    OLD_PICTURES,
    VERSION,
    Slide,
    first_pictures,
    read_talk,
    write_talk,
)

OLD_TALK = (Path(__file__).parent / "old" / "talk.json").read_bytes()
GOOD = {"page": "attention"}


def file_of(*slides, **changes):
    return json.dumps({FORMAT: VERSION, "slides": list(slides)} | changes).encode()


@pytest.fixture(scope="module")
def old_talk():
    return read_talk(OLD_TALK)[0]


def test_a_talk_of_version_1_is_read_whole(old_talk):
    entries = json.loads(OLD_TALK)["slides"]
    kept = [entry for entry in entries if OLD_PAGES[entry["page"]] in PAGES]
    assert len(kept) == len(old_talk) > 1
    for entry, slide in zip(kept, old_talk, strict=True):
        page = PAGES[slide.page]
        assert page.title == entry["page"]
        assert slide.parameters == entry["parameters"]
        assert slide.pictures == tuple(OLD_PICTURES.get(key, key) for key in entry["pictures"])
        assert (slide.title, slide.words) == (entry["title"], entry["words"])
        config = address.config_for(slide.parameters)
        assert link.read(slide.parameters, page.linked, config)[1] == ()


def test_a_talk_of_version_1_is_that_of_version_2(old_talk):
    written = write_talk(old_talk)
    assert json.loads(written)[FORMAT] == 2
    assert read_talk(written.encode()) == (old_talk, ())


def test_what_version_1_called_pages_and_pictures_is_there_now():
    for title, key in OLD_PAGES.items():
        assert key not in PAGES or PAGES[key].title == title
    masks = {"page": "Masks", "pictures": ["as trained", "with your changes"]}
    (slide,), notes = read_talk(file_of(masks, **{FORMAT: 1}))
    assert slide.pictures == ("trained", "changed")
    assert notes == ()


def test_a_talk_written_is_the_talk_read(old_talk):
    odd = replace(old_talk[0], title="</script>\x00 # *é*", words="漢", size=4.0)
    assert read_talk(write_talk([odd]).encode()) == ((odd,), ())


def test_a_size_may_be_a_whole_number():
    (slide,), _ = read_talk(file_of(GOOD | {"size": 2}))
    assert slide.size == 2


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "JSON"),
        (b"\xff", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b"[]", "not a talk"),
        (b"{}", "not a talk"),
        (file_of(GOOD, **{FORMAT: 3}), "not a talk"),
        (file_of(GOOD, **{FORMAT: True}), "not a talk"),
        (file_of(), "list of 1 to"),
        (file_of(*[GOOD] * (MOST_SLIDES + 1)), "list of 1 to"),
        (b" " * (LARGEST_FILE + 1), "kB"),
        (file_of("attention"), "Slide 1"),
        (file_of(GOOD, {"page": 3}), "Slide 2, page"),
        (file_of(GOOD | {"title": "a" * (LONGEST_TITLE + 1)}), "Slide 1, title"),
        (file_of(GOOD | {"words": "a" * (LONGEST_WORDS + 1)}), "Slide 1, words"),
        (file_of(GOOD | {"words": "\ud800"}), "Slide 1, words"),
        (file_of(GOOD | {"parameters": {"\ud800": "1"}}), "Slide 1, parameters"),
        (file_of(GOOD | {"parameters": {"layer": "\udfff"}}), "Slide 1, parameters"),
        (file_of(GOOD | {"parameters": {"layer": 2}}), "Slide 1, parameters"),
        (file_of(GOOD | {"pictures": "grid"}), "Slide 1, pictures"),
        (file_of(GOOD | {"pictures": ["\ud800"]}), "Slide 1, pictures"),
        (file_of(GOOD | {"size": True}), "Slide 1, size"),
        (file_of(GOOD | {"size": float("nan")}), "Slide 1, size"),
        (file_of(GOOD | {"size": 1e9}), "Slide 1, size"),
        (file_of({"page": "Moon"}), "None of the talk's slides"),
    ],
)
def test_a_file_that_is_not_a_talk_is_refused_with_one_sentence(data, words):
    with pytest.raises(ValueError, match=words) as refused:
        read_talk(data)
    assert "\n" not in str(refused.value)
    assert str(refused.value).endswith(".")
    str(refused.value).encode()  # what a browser can be sent


def test_what_does_not_exist_here_is_left_out_with_a_note():
    parameters = {"layer": "9", "head": "5", "moon": "1", "model": "own-1"}
    damaged = GOOD | {"parameters": parameters, "pictures": ["grid", "</style>", "grid"]}
    slides, notes = read_talk(file_of({"page": "<b>"}, damaged))
    assert slides == (Slide("attention", {"head": "5"}, pictures=("grid",)),)
    assert "no page <b>" in notes[0]
    assert all(name in notes[1] for name in ("layer", "moon", "model", "</style>"))


def test_a_page_without_pictures_is_no_page_of_a_talk():
    without = next(page.key for page in PAGES.values() if not page.pictures)
    _, notes = read_talk(file_of(GOOD, {"page": without}))
    assert f"no page {without}" in notes[0]


def test_a_kept_talk_holds_on_to_models_that_may_come_back():
    slide = Slide("attention", {"model": "own-1", "layer": "1"}, pictures=("grid",))
    data = write_talk([slide]).encode()
    assert read_talk(data, kept=True) == ((slide,), ())
    (without,), (note,) = read_talk(data)
    assert without.parameters == {"layer": "1"}
    assert "model" in note


@pytest.mark.parametrize("key", [key for key, page in PAGES.items() if page.pictures])
def test_a_new_slide_shows_one_picture(key):
    (picture,) = first_pictures(PAGES[key])
    assert picture in PAGES[key].pictures


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.fixed_dictionaries(
    {"page": st.sampled_from([*PAGES, *OLD_PAGES, "Moon"]) | JSON},
    optional={
        "parameters": st.dictionaries(
            st.sampled_from(["layer", "edits", "model", "sentence", "seed", "v"]) | st.text(),
            st.text() | JSON,
            max_size=4,
        )
        | JSON,
        "title": st.text() | JSON,
        "words": st.text() | JSON,
        "pictures": st.lists(st.sampled_from(["grid", "tree"]) | st.text(), max_size=3) | JSON,
        "size": st.floats() | JSON,
    },
)


@settings(max_examples=150, deadline=None)
@given(st.binary() | st.lists(ENTRIES | JSON, max_size=4).map(lambda slides: file_of(*slides)))
def test_whatever_a_file_holds_it_is_a_talk_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        slides, _ = read_talk(data)
        assert read_talk(write_talk(slides).encode()) == (slides, ())
