"""The file that a talk is kept in, as it is read."""

import contextlib
import json
import time
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.show.question import LONGEST_TEXT
from headlight.wings.talks.slides import (
    FORMAT,
    LARGEST_FILE,
    LONGEST_TITLE,
    LONGEST_WORDS,
    MOST_SLIDES,
    VERSION,
    Slide,
    write_talk,
)
from headlight.wings.talks.talk_file import read_talk

GOOD = {"page": "attention"}


def file_of(*slides, **changes):
    return json.dumps({FORMAT: VERSION, "slides": list(slides)} | changes).encode()


def test_a_talk_written_is_the_talk_read():
    grid = Slide("attention", {"sentence": "We sing.", "head": "3"}, pictures=("grid",))
    odd = replace(grid, title="</script>\x00 # *é*", words="漢", size=0.5)
    asking = replace(grid, question="<b>Which?\n</script>\n*no*")
    words = Slide(title="The end", question="Which?\r\none")  # is not finished
    talk = grid, odd, asking, words
    assert read_talk(write_talk(talk).encode()) == (talk, ())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "JSON"),
        (b"\xff", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b"[]", "not a talk"),
        (b"{}", "not a talk"),
        (file_of(GOOD, **{FORMAT: VERSION - 1}), "not a talk"),
        (file_of(GOOD, **{FORMAT: VERSION + 1}), "A newer Headlight saved this talk"),
        (file_of({"page": 7}, **{FORMAT: VERSION + 9}), "A newer Headlight saved this talk"),
        (file_of(GOOD, **{FORMAT: True}), "not a talk"),
        (file_of(), "list of 1 to"),
        (file_of(*[GOOD] * (MOST_SLIDES + 1)), "list of 1 to"),
        (b" " * (LARGEST_FILE + 1), "kB"),
        (file_of("attention"), "Slide 1"),
        (file_of(GOOD, {"page": 3}), "Slide 2, page"),
        (file_of(GOOD | {"title": "a" * (LONGEST_TITLE + 1)}), "Slide 1, title"),
        (file_of(GOOD | {"words": "a" * (LONGEST_WORDS + 1)}), "Slide 1, words"),
        (file_of(GOOD | {"words": "\ud800"}), "Slide 1, words"),
        (file_of(GOOD | {"question": ["Which?", "one", "two"]}), "Slide 1, question"),
        (file_of(GOOD | {"question": "a" * (LONGEST_TEXT + 1)}), "Slide 1, question"),
        (file_of(GOOD, {"question": "\ud800"}), "Slide 2, question"),
        (file_of(GOOD | {"parameters": {"\ud800": "1"}}), "Slide 1, parameters"),
        (file_of(GOOD | {"parameters": {"layer": "\udfff"}}), "Slide 1, parameters"),
        (file_of(GOOD | {"parameters": {"layer": 2}}), "Slide 1, parameters"),
        (file_of(GOOD | {"pictures": "grid"}), "Slide 1, pictures"),
        (file_of(GOOD | {"pictures": ["\ud800"]}), "Slide 1, pictures"),
        (file_of(GOOD | {"drawn": "grid"}), "Slide 1, drawn"),
        (file_of(GOOD | {"size": True}), "Slide 1, size"),
        (file_of(GOOD | {"size": float("nan")}), "Slide 1, size"),
        (file_of(GOOD | {"size": 0.1}), "Slide 1, size"),
        (file_of(GOOD | {"size": 1.5}), "Slide 1, size"),
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
    assert "no page “<b>”" in notes[0]
    assert all(name in notes[1] for name in ("layer", "moon", "model", "</style>"))


def seconds_to_read(data):
    began = time.thread_time()  # of the processor: other processes do not count
    (slide,), (note,) = read_talk(data)
    assert not slide.parameters
    assert not slide.pictures
    assert len(note) < 400
    return time.thread_time() - began


@pytest.mark.parametrize("entry", ["parameters", "pictures"])
def test_time_grows_with_a_file_and_no_faster(entry):
    unknown = [dict.fromkeys(map(str, range(count)), "") for count in (3_000, 30_000)]
    made = [given if entry == "parameters" else [*given] for given in unknown]
    few, many = (file_of(GOOD | {entry: given}) for given in made)
    assert LARGEST_FILE > len(many) > 8 * len(few)
    least = min(seconds_to_read(few) for _ in range(3))
    assert min(seconds_to_read(many) for _ in range(3)) < 40 * least


def test_what_a_scene_draws_is_kept_as_far_as_its_page_has_it():
    written = GOOD | {"drawn": ["lines", "</style>", "grid", "grid"]}
    (slide,), notes = read_talk(file_of(written))
    assert slide.drawn == ("grid", "lines")
    assert notes == ()
    assert read_talk(write_talk([slide]).encode()) == ((slide,), ())


def test_a_page_without_pictures_is_no_page_of_a_talk():
    without = next(page.key for page in PAGES.values() if not page.pictures)
    _, notes = read_talk(file_of(GOOD, {"page": without}))
    assert f"no page “{without}”" in notes[0]


def test_a_kept_talk_holds_on_to_models_that_may_come_back():
    slide = Slide("attention", {"model": "own-1", "layer": "1"}, pictures=("grid",))
    data = write_talk([slide]).encode()
    assert read_talk(data, kept=True) == ((slide,), ())
    (without,), (note,) = read_talk(data)
    assert without.parameters == {"layer": "1"}
    assert "model" in note


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ENTRIES = st.fixed_dictionaries(
    {"page": st.sampled_from([*PAGES, "Moon"]) | JSON},
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
        "qr_code": st.booleans() | JSON,
        "question": st.text() | JSON,
        "size": st.floats() | JSON,
        "drawn": st.lists(st.sampled_from(["grid", "tree"]) | st.text(), max_size=3) | JSON,
    },
)


@settings(max_examples=150, deadline=None)
@given(st.binary() | st.lists(ENTRIES | JSON, max_size=4).map(lambda slides: file_of(*slides)))
def test_whatever_a_file_holds_it_is_a_talk_or_a_value_error(data):
    with contextlib.suppress(ValueError):
        slides, _ = read_talk(data)
        assert read_talk(write_talk(slides).encode()) == (slides, ())


def test_a_slide_keeps_its_code_and_has_none_by_default():
    slide = Slide("attention", pictures=("grid",), drawn=("grid",), qr_code=True)
    assert read_talk(write_talk([slide]).encode()) == ((slide,), ())
    entry = {"page": "attention", "pictures": ["grid"]}
    assert not read_talk(file_of(entry))[0][0].qr_code
    with pytest.raises(ValueError, match="Slide 1, qr_code"):
        read_talk(file_of(entry | {"qr_code": 1}))
