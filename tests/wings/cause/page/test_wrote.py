"""What each head wrote: its numbers, its links, and what it says to odd words."""

import numpy as np
import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.attribution import attribute
from headlight.model.transformer.trace import Site
from headlight.pages.shared.state.choices import LONGEST_SENTENCE
from tests.matrix import first_of
from tests.odd_texts import ODD_TEXTS
from tests.pages.apps import address, go_to, new_app, open_page, open_with, said
from tests.pages.pictures import canvas_pictures

SENTENCE = "My sister sold seven boats."
PLACE = {"cause_tab": "wrote", "sentence": SENTENCE}


def pictures(app):
    """The bars of all parts, the map of the heads, and the bars of one head's keys."""
    result = canvas_pictures(app)
    (parts, keys) = [item for item in result if "ends" in item[0] and "sum" in item[0]]
    (heads,) = [header for header, _ in result if "effects" in header]
    return parts, heads, keys


def numbers(picture):
    header, data = picture
    return np.frombuffer(data, "<f4").reshape(-1, len(header["names"]))


@pytest.fixture(scope="module")
def read(shipped):
    trace = shipped.trace(SENTENCE, shipped.translate(SENTENCE))
    return shipped, trace


def check(app, found, site, head, length):
    parts, heads, keys = pictures(app)
    assert parts[0]["sum"] == pytest.approx(found.difference, abs=1e-3)
    assert f"{abs(found.difference):.3f}" in parts[0]["beside"]
    assert numbers(parts)[0, 0] == pytest.approx(found.embedding, abs=1e-4)
    for kind in heads["effects"]:
        for layer, row in enumerate(kind["effects"]):
            expected = found.heads[Site(kind["name"], layer)]
            np.testing.assert_allclose(row, expected, atol=1e-4)
    assert heads["selected"] == [*site, head]
    expected = torch.stack([found.keys[site][head], found.weights[site][head]])[:, :length]
    np.testing.assert_allclose(numbers(keys), expected, atol=1e-4)


def test_the_chosen_words_are_held_against_each_other(read):
    shipped, trace = read
    app = open_page(
        "cause", **PLACE, wrote_word="2", kind="cross", layer="2", head="3", wrote_against="chat"
    )
    assert not app.exception
    (other,) = shipped.begin("chat")
    written = trace.target_tokens[2]
    result = attribute(shipped, trace, 1, written.id, other.id)
    check(app, result, Site("cross", 1), 2, len(trace.source_tokens))
    assert pictures(app)[0][0]["ends"] == [f"for “{written.text}”", "for “chat”"]
    assert address(app)["wrote_against"] == "chat"
    assert not said(app)


def test_without_a_choice_it_is_the_runner_up_and_the_head_that_adds_most(read):
    shipped, trace = read
    app = open_page("cause", **PLACE)
    token, other = trace.logits[0, 0].topk(2).indices.tolist()
    result = attribute(shipped, trace, 0, token, other)
    largest = max(heads.abs().max() for heads in result.heads.values())
    _, heads, _ = pictures(app)
    kind, layer, head = heads["selected"]
    assert result.heads[Site(kind, layer)][head].abs() == largest


def test_a_head_of_the_decoder_has_the_tokens_up_to_its_own(read):
    shipped, trace = read
    app = open_page("cause", **PLACE, wrote_word="3", kind="decoder", layer="1", head="1")
    token, other = trace.logits[0, 2].topk(2).indices.tolist()
    result = attribute(shipped, trace, 2, token, other)
    check(app, result, Site("decoder", 0), 0, 3)


def test_changes_in_force_count(read):
    shipped, trace = read
    app = open_page("cause", **PLACE, edits="gate.cross.2.3.0", kind="cross", layer="2", head="3")
    gate = torch.ones(8)
    gate[2] = 0
    edits = {Site("cross", 1): AttentionEdit(gate=gate)}
    logits = shipped.trace(SENTENCE, shipped.translate(SENTENCE), edits=edits).logits[0, 0]
    token = trace.target_tokens[1].id
    other = next(item for item in logits.topk(2).indices.tolist() if item != token)
    result = attribute(shipped, trace, 0, token, other, edits)
    check(app, result, Site("cross", 1), 2, len(trace.source_tokens))


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("extraordinairement", "tokens here"),
        ("<b>日本語</b>", "is 17 tokens here"),
        ("the same", "is the written word itself"),
    ],
)
def test_a_word_that_cannot_be_the_other_gives_way_to_the_runner_up(word, why, read):
    shipped, trace = read
    token, other = trace.logits[0, 0].topk(2).indices.tolist()
    word = trace.target_tokens[1].text if word == "the same" else word
    app = open_page("cause", **PLACE, wrote_against=word)
    assert not app.exception
    assert why in said(app)
    assert "The runner-up is used" in said(app)
    result = attribute(shipped, trace, 0, token, other)
    assert pictures(app)[0][0]["sum"] == pytest.approx(result.difference, abs=1e-3)


@pytest.mark.parametrize("name", first_of(ODD_TEXTS))
def test_odd_words_and_sentences_break_nothing(name):
    odd = ODD_TEXTS[name]
    app = new_app(**PLACE)
    app.session_state["wrote_against"] = odd
    assert not go_to(app, "cause").exception
    app = open_page("cause", **PLACE)
    app.text_input(key="sentence").set_value(odd[:LONGEST_SENTENCE]).run()
    assert not app.exception


@pytest.mark.parametrize("name", first_of(["GPT-2", "Llama", "T5"]))
def test_models_of_the_library_add_up(name, transformers_folders):
    app = open_with(transformers_folders[name], "cause", cause_tab="wrote", sentence="I love it.")
    parts, _, keys = pictures(app)
    assert f"{abs(parts[0]['sum']):.3f}" in parts[0]["beside"]
    assert numbers(keys)[0].sum() == pytest.approx(keys[0]["sum"], abs=1e-4)


@pytest.mark.parametrize("name", ["Marian", "DistilBERT"])
def test_others_say_why_not(name, transformers_folders):
    app = open_with(transformers_folders[name], "cause", cause_tab="wrote", sentence="I love it.")
    assert not [header for header, _ in canvas_pictures(app) if "effects" in header]
    assert {"Marian": "norms after its blocks", "DistilBERT": "no head that writes"}[name] in said(
        app
    )
