import pytest

from pages.shared.scene import LONGEST_SENTENCE, Scene, head_names


def test_an_empty_address_is_the_default_scene():
    assert Scene.from_parameters({}, 3, 8) == Scene()


def test_an_address_restores_every_choice():
    parameters = {
        "model": "en-fr-learned",
        "sentence": "Hi <b>",
        "kind": "encoder",
        "layer": "3",
        "head": "8",
        "picture": "lines",
        "mask_kind": "cross",
        "strategy": "beam",
        "beam_size": "8",
        "length_penalty": "0.0",
        "temperature": "1.3",
        "top_k": "5",
        "top_p": "0.9",
        "seed": "17",
        "longest": "20",
    }
    decoding = ("beam", 8, 0.0, 1.3, 5, 0.9, 17, 20)
    assert Scene.from_parameters(parameters, 3, 8) == Scene(
        "en-fr-learned", "Hi <b>", "encoder", 3, "8", "lines", "cross", *decoding
    )


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
        {"picture": "<script>"},
        {"sentence": ""},
        {"unheard-of": "1"},
        {"strategy": "luck"},
        {"beam_size": "9"},
        {"beam_size": "2.5"},
        {"temperature": "nan"},
        {"temperature": "-1"},
        {"top_p": "inf"},
        {"longest": "0"},
    ],
)
def test_what_makes_no_sense_is_left_at_its_default(parameters):
    assert Scene.from_parameters(parameters, 3, 8) == Scene()


def test_a_sentence_too_long_for_the_box_is_cut():
    scene = Scene.from_parameters({"sentence": "a" * 100_000}, 3, 8)
    assert len(scene.sentence) == LONGEST_SENTENCE


def test_heads_are_numbered_from_one_and_followed_by_their_summaries():
    assert head_names(2) == ("1", "2", "mean", "max")
