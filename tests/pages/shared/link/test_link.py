"""What a link holds of a page's choices, and that it gives them back."""

from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.model import load
from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.pages.parts.decoding.request import BRANCH
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.link import link
from headlight.pages.shared.state.choices import COMMON, LONGEST_EDITS, LONGEST_SENTENCE, TOO_MANY

SHAPE = load("en-fr").shape
# What some choice or other takes from a link, and does not have by default.
TEXTS = (
    "look-ahead.off~gate.cross.2.8.25", "gate.encoder.2.8.0~gate.encoder.12.1.35", "toy.20",
    "3,12", "en-fr-learned", "2:40.7:a b: é", "Hi <b> ~&=%20", "on", "off", "mean", "max", "20",
    "3", "2", "1", "0", "0.4", "0.05", "q8", "128", "encoder", "",
)  # fmt: skip


def long_branch(ids):
    return f"1:{'.'.join(['10000'] * ids)}:déjà vu"


def defaults(choices):
    return {choice.key: choice.default for choice in choices}


def other_text(choice):
    """What a link says for a choice that is not at its default."""
    for text in (*map(str, choice.options), *TEXTS):
        try:
            if choice.read(text, SHAPE) != choice.default:
                return text
        except ValueError:
            pass
    raise AssertionError(f"No text of this test fits {choice.key}: add one.")


def test_a_link_without_choices_is_empty_and_means_the_defaults():
    for page in PAGES.values():
        assert link.write(page.linked, defaults(page.linked)) == {}
        assert link.read({}, page.linked, SHAPE) == (defaults(page.linked), ())


def test_every_choice_of_a_page_is_in_its_link_and_restored_from_it():
    for page in PAGES.values():
        for choice in page.linked:
            asked = {choice.key: other_text(choice)}
            values, refused = link.read(asked, page.linked, SHAPE)
            assert not refused
            assert values[choice.key] != choice.default
            written = link.write(page.linked, values)
            assert set(written) == {"v", choice.key}
            assert link.read(written, page.linked, SHAPE) == (values, ())


def test_a_link_says_its_version():
    values = defaults(COMMON) | {"layer": 2}
    assert link.write(COMMON, values) == {"v": "2", "layer": "3"}


@pytest.mark.parametrize("version", [{}, {"v": "2"}])
def test_links_of_this_version_and_without_one_are_read(version):
    values, refused = link.read({**version, "layer": "3", "head": "5"}, COMMON, SHAPE)
    assert (values["layer"], values["head"], refused) == (2, 4, ())


@pytest.mark.parametrize("version", ["1", "3", "", "two"])
def test_another_version_is_told(version):
    assert link.read({"v": version}, COMMON, SHAPE) == (defaults(COMMON), ("v",))


@pytest.mark.parametrize(
    "parameters",
    [
        {"model": "own-0123"},
        {"model": "../en-fr"},
        {"layer": "6"},
        {"layer": "0"},
        {"layer": "-1"},
        {"layer": "two"},
        {"head": "9"},
        {"head": "median"},
        {"kind": "sideways"},
        {"mask_kind": "sideways"},
        {"head_number": "9"},
        {"pad_to": "257"},
        {"picture": "<script>"},
        {"own_scale": "True"},
        {"edits": "gate.cross.1.9.0"},
        {"sentence": ""},
        {"unheard-of": "1"},
        {"scope": "this layer, please"},
        {"toy_reverse_steps": "10.5"},
        {"toy_reverse_rate": "nan"},
        {"history_sentence": "6"},
    ],
)
def test_what_makes_no_sense_is_left_at_its_default_and_told(parameters):
    choices = {choice.key: choice for page in PAGES.values() for choice in page.linked}.values()
    read = link.read(parameters, choices, SHAPE)
    assert read == (defaults(choices), tuple(parameters))


@st.composite
def links(draw):
    """A page, and parameters as anyone may write them into its address."""
    page = draw(st.sampled_from(list(PAGES.values())))
    keys = st.sampled_from([choice.key for choice in page.linked])
    words = [str(key) for choice in page.linked for key in choice.options]
    texts = st.sampled_from([*TEXTS, *words]) | st.text()
    return page, draw(st.dictionaries(keys | st.text(max_size=9), texts))


@given(links())
def test_any_parameters_are_read_and_what_is_written_is_read_back(asked):
    page, parameters = asked
    values, refused = link.read(parameters, page.linked, SHAPE)
    assert set(values) == {choice.key for choice in page.linked}
    assert set(refused) <= set(parameters)
    again, left = link.read(link.write(page.linked, values, whole=True), page.linked, SHAPE)
    assert (again, left) == (values, ())


def test_a_sentence_too_long_for_the_box_is_cut_and_told():
    values, refused = link.read({"sentence": "a" * 100_000}, COMMON, SHAPE)
    assert values["sentence"] == "a" * LONGEST_SENTENCE
    assert refused == ("sentence",)


def test_edits_too_long_for_a_link_are_named_in_it_but_whole_in_a_talk():
    values = defaults(COMMON) | {"edits": "~".join(["gate.cross.1.1.0"] * 80)}
    assert len(values["edits"]) > LONGEST_EDITS
    assert link.write(COMMON, values)["edits"] == TOO_MANY
    assert link.write(COMMON, values, whole=True)["edits"] == values["edits"]


def test_the_link_of_thirty_words_with_edits_is_below_2000_characters():
    for page in PAGES.values():
        thirty = " ".join(["we", "don't", "walk", "to", "school", "déjà"] * 5)
        block = tuple(
            CellEdit("decoder", q, k, False) for q in range(3, 20) for k in range(0, q, 2)
        )
        gates = {("cross", layer, head): 0.35 for layer in range(3) for head in range(8)}
        values = {
            choice.key: choice.read(other_text(choice), SHAPE)
            for choice in page.linked
            if not choice.key.startswith("toy_") or "_dates_" in choice.key  # one task is chosen
        }
        values["edits"] = write_edits(Edits(off=("look-ahead",), gates=gates, cells=block))
        for name in ("sentence", "target", "inside_of", "inside_target"):
            values |= {name: thirty} if name in values else {}
        if "branch" in values:  # as long as a link takes it
            ids = next(n for n in range(90, 0, -1) if link.fits(BRANCH, long_branch(n)))
            values["branch"] = BRANCH.read(long_branch(ids), SHAPE)
        address = urlencode(link.write(page.linked, defaults(page.linked) | values))
        assert len(address) < 1_950
