from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model import load
from model.edits import CellEdit, Edits, write_edits
from pages.shared.state.scene import (
    CHECKS,
    LONGEST_SENTENCE,
    LONGEST_TEXT,
    Scene,
    head_names,
    read_scene,
)

CONFIG = load("en-fr").model.config
PAGES = (
    "Attention", "Masks", "Heads", "Inside a head", "Positions", "Decoding", "BERT and others",
    "Compare",
)  # fmt: skip
CHOSEN = {
    "model": "en-fr-learned",
    "sentence": "Hi <b>",
    "kind": "encoder",
    "layer": 3,
    "head": "8",
    "picture": "lines",
    "own_scale": True,
    "edits": "look-ahead.off~gate.cross.2.8.25",
    "mask_kind": "cross",
    "head_number": 8,
    "pad_to": 20,
    "target": "Salut ~&=%20",
    "strategy": "beam",
    "beam_size": 8,
    "length_penalty": 0.0,
    "temperature": 1.3,
    "top_k": 5,
    "top_p": 0.9,
    "seed": 17,
    "longest": 20,
    "compare_a": "head=5",
    "compare_a_edits": "gate.cross.2.8.0",
    "compare_b": "sentence=Hi+%3Cb%3E",
    "compare_b_edits": "look-ahead.off",
    "compare_own": True,
    "compare_snapshot": "toy.20",
    "query": 3,
    "key": 256,
    "inside_tab": "Words",
    "changed": True,
    "inside_of": "Hi <b>",
    "inside_target": "Oui",
    "inside_pad_to": 12,
    "positions_tab": "One token",
    "positions_encoder": "shuffled",
    "positions_decoder": "shifted",
    "positions_shift": 512,
    "positions_seed": 4,
    "bert_name": "./my bert",
    "bert_first": "A <b>.",
    "bert_second": "",
    "bert_target": "Le [SEP]",
    "bert_kind": "cross",
    "bert_layer": "max",
    "bert_head": "12",
    "bert_picture": "lines",
    "bert_between": "first to second",
    "bert_special": "hidden",
    "bert_rows": "scaled to 1",
    "bert_units": "words",
    "bert_masked": "3,12",
    "bert_query": 512,
    "bert_key": 2,
    "bert_tab": "Switch heads",
    "bert_inside_tab": "Switches",
    "bert_edits": "gate.encoder.2.8.0~gate.encoder.12.1.35",
}


def test_an_empty_address_is_the_default_scene():
    assert read_scene({}, CONFIG) == (Scene(), ())


@pytest.mark.parametrize("page", PAGES)
def test_the_default_scene_has_an_empty_address(page):
    assert Scene().parameters(page) == {}


def test_every_choice_is_restored_from_the_address_of_a_page_it_matters_on():
    scene = Scene(**CHOSEN)
    assert {name for name, value in vars(Scene()).items() if value != CHOSEN.get(name)} == set(
        CHECKS
    ), "the example leaves a choice at its default"
    written = {}
    for page in PAGES:
        written |= scene.parameters(page)
    assert read_scene(written, CONFIG) == (scene, ())


def test_an_address_has_only_what_matters_on_its_page():
    assert set(Scene(**CHOSEN).parameters("Heads")) == {
        "model",
        "sentence",
        "kind",
        "layer",
        "head",
        "edits",
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {"model": "own-0123"},
        {"model": "../en-fr"},
        {"layer": "4"},
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
        {"strategy": "luck"},
        {"beam_size": "9"},
        {"beam_size": "2.5"},
        {"beam_size": "9" * 5_000},
        {"temperature": "nan"},
        {"temperature": "-1"},
        {"top_p": "inf"},
        {"longest": "0"},
        {"compare_own": "yes"},
        {"compare_snapshot": "en-fr"},
        {"compare_snapshot": "fr-en.1"},
        {"compare_snapshot": "toy.1; 2"},
        {"inside_tab": "Cellar"},
        {"bert_layer": "0"},
        {"bert_layer": "median"},
        {"bert_head": "1; 2"},
        {"bert_between": "sideways"},
        {"bert_rows": "scaled to 2"},
        {"bert_masked": "1,,2"},
        {"bert_masked": "1,\u0662"},
        {"bert_masked": ",".join("1" * 600)},
        {"bert_query": "513"},
        {"bert_tab": "Words"},
        {"bert_inside_tab": "Words"},
        {"bert_edits": "look-ahead.off"},
        {"bert_edits": "gate.encoder.2.8.0~"},
    ],
)
def test_what_makes_no_sense_is_left_at_its_default_and_told(parameters):
    assert read_scene(parameters, CONFIG) == (Scene(), tuple(parameters))


@given(st.dictionaries(st.sampled_from(sorted(CHECKS)) | st.text(max_size=9), st.text()))
def test_any_address_is_a_scene(parameters):
    scene, refused = read_scene(parameters, CONFIG)
    assert set(refused) <= set(parameters)
    for page in PAGES:
        again, _ = read_scene(scene.parameters(page), CONFIG)
        assert again.parameters(page) == scene.parameters(page)


def test_a_sentence_too_long_for_the_box_is_cut():
    scene, _ = read_scene({"sentence": "a" * 100_000}, CONFIG)
    assert len(scene.sentence) == LONGEST_SENTENCE
    scene, _ = read_scene({"bert_first": "a" * 100_000}, CONFIG)
    assert len(scene.bert_first) == LONGEST_TEXT


@pytest.mark.parametrize("page", PAGES[:-1])
def test_the_address_of_thirty_words_with_edits_is_below_2000_characters(page):
    thirty = " ".join(["we", "don't", "walk", "to", "school", "déjà"] * 5)
    block = tuple(CellEdit("decoder", q, k, False) for q in range(3, 20) for k in range(0, q, 2))
    gates = {("cross", layer, head): 0.35 for layer in range(3) for head in range(8)}
    edits = write_edits(Edits(look_ahead=False, gates=gates, cells=block))
    texts = {"sentence": thirty, "target": thirty, "inside_of": thirty, "inside_target": thirty}
    scene = Scene(**{**CHOSEN, **texts, "edits": edits})
    address = urlencode(scene.parameters(page))
    assert len(address) < 1_950
    assert page == "Inside a head" or "edits" in scene.parameters(page)


def test_heads_are_numbered_from_one_and_followed_by_their_summaries():
    assert head_names(2) == ("1", "2", "mean", "max")
