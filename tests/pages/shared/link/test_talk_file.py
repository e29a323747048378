"""The file that a talk is kept in, as it is read."""

import contextlib
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.hostile import talks
from pages.parts.pages import PAGES
from pages.shared.link import address, link
from pages.shared.link.slides import (
    FORMAT,
    LARGEST_FILE,
    LONGEST_TITLE,
    LONGEST_WORDS,
    MOST_SLIDES,
    VERSION,
    Slide,
    write_talk,
)
from pages.shared.link.talk_file import OLD_PAGES, OLD_PICTURES, read_talk

OLD_TALK = (Path(__file__).parent / "old" / "talk.json").read_bytes()
GOOD = {"page": "attention"}
BERT_AND_OTHERS = "BERT and others"
GATE = "gate.encoder.1.2.0"


def file_of(*slides, **changes):
    return json.dumps({FORMAT: VERSION, "slides": list(slides)} | changes).encode()


@pytest.fixture(scope="module")
def old_talk():
    return read_talk(OLD_TALK)[0]


def test_a_talk_of_version_1_is_read_whole(old_talk):
    entries = json.loads(OLD_TALK)["slides"]
    assert len(entries) == len(old_talk) > 1
    for entry, slide in zip(entries, old_talk, strict=True):
        page = PAGES[slide.page]
        assert (slide.title, slide.words) == (entry["title"], entry["words"])
        assert len(slide.pictures) == len(entry["pictures"])
        assert (
            link.read(slide.parameters, page.linked, address.shape_for(slide.parameters))[1] == ()
        )
        if entry["page"] != BERT_AND_OTHERS:
            assert page.title == entry["page"]
            assert slide.parameters == entry["parameters"]
            assert slide.pictures == tuple(OLD_PICTURES.get(key, key) for key in entry["pictures"])


def test_slides_of_the_page_bert_and_others_are_those_of_the_pages_that_took_over():
    shown = {"bert_name": "some/bert", "bert_first": "Hi.", "bert_head": "3", "head": "5"}
    then = [
        {"page": BERT_AND_OTHERS, "parameters": shown, "pictures": ["tokens", "grid"]},
        {
            "page": "bert",
            "parameters": shown | {"v": "2", "bert_tab": "switches", "bert_edits": GATE},
            "pictures": ["switchboard", "predictions"],
        },
        {
            "page": "bert",
            "parameters": shown | {"bert_tab": "inside", "bert_query": "2"},
            "pictures": ["story-dot"],
        },
        {"page": "bert", "parameters": {"bert_first": "Hi."}, "pictures": ["grid"]},
    ]
    slides, notes = read_talk(file_of(*then))
    now = {"model": "transformers:some/bert", "sentence": "Hi.", "second": "It was too tired."}
    now |= {"kind": "encoder", "layer": "1", "head": "3"}
    assert [slide.page for slide in slides] == ["attention", "heads", "inside"]
    assert slides[0].parameters == now
    assert slides[0].pictures == ("source", "grid")
    assert slides[1].parameters == now | {"v": "2", "edits": GATE}
    assert slides[1].pictures == ("switchboard", "answer-0")
    assert slides[2].parameters == now | {"query": "2"}
    assert slides[2].pictures == ("story-dot",)
    assert notes == ("Slide 4 was left out: there is no page bert.",)


def test_a_talk_of_version_1_is_that_of_version_2(old_talk):
    written = write_talk(old_talk)
    assert json.loads(written)[FORMAT] == 2
    assert read_talk(written.encode()) == (old_talk, ())


def test_what_version_1_called_pages_and_pictures_is_there_now():
    for title, key in OLD_PAGES.items():
        assert title == BERT_AND_OTHERS or PAGES[key].title == title
    masks = {"page": "Masks", "pictures": ["as trained", "with your changes"]}
    (slide,), notes = read_talk(file_of(masks, **{FORMAT: 1}))
    assert slide.pictures == ("trained", "changed")
    assert notes == ()


def test_a_talk_written_is_the_talk_read(old_talk):
    odd = replace(old_talk[0], title="</script>\x00 # *é*", words="漢", size=0.5)
    assert read_talk(write_talk([odd]).encode()) == ((odd,), ())


@pytest.mark.parametrize(("written", "read"), [(0.1, 0.3), (0.5, 0.5), (1, 1), (1.5, 1), (4, 1)])
def test_a_size_is_a_share_of_what_fits_and_a_larger_one_of_older_files_is_all_of_it(written, read):
    (slide,), _ = read_talk(file_of(GOOD | {"size": written}))
    assert slide.size == read


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
        (file_of(GOOD | {"drawn": "grid"}), "Slide 1, drawn"),
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


def seconds_to_read(data):
    began = time.perf_counter()
    (slide,), (note,) = read_talk(data)
    assert not slide.parameters
    assert not slide.pictures
    assert len(note) < 400
    return time.perf_counter() - began


@pytest.mark.parametrize("make", [talks.many_parameters, talks.many_pictures])
def test_time_grows_with_a_file_and_no_faster(make):
    few, many = make(3_000), make(30_000)
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
    assert f"no page {without}" in notes[0]


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
        "qr_code": st.booleans() | JSON,
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


def test_a_slide_keeps_its_code_and_an_older_file_has_none():
    slide = Slide("attention", pictures=("grid",), drawn=("grid",), qr_code=True)
    assert read_talk(write_talk([slide]).encode()) == ((slide,), ())
    entry = {"page": "attention", "pictures": ["grid"]}
    assert not read_talk(file_of(entry))[0][0].qr_code
    with pytest.raises(ValueError, match="Slide 1, qr_code"):
        read_talk(file_of(entry | {"qr_code": 1}))
