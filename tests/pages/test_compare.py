"""Two scenes side by side: every number shown is of the model's own runs of both."""

import re
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from headlight.model.edits import Edits, write_edits
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.snapshots import Snapshots
from headlight.model.transformer.trace import Site
from headlight.model.translator import PRETRAINED, load
from headlight.pages.parts.compare import links
from headlight.pages.parts.compare.links import LONGEST_EDITS, SIDES, read_text, write_text
from headlight.pages.parts.compare.page import PAGE
from headlight.pages.parts.compare.sides import ModelSide, SnapshotSide
from headlight.pages.shared.address import write_parameters
from headlight.pages.shared.show import answers
from headlight.pages.shared.state.models import EXAMPLES
from headlight.viz import compared_maps, largest_changes
from headlight.viz.tokens import WRITES, aligned
from tests.pages import apps
from tests.pages.pictures import canvas_pictures, save_menus
from tests.viz.maps.test_compared_maps import maps_of
from tests.viz.unpacking import unpack

TIRED, WIDE = EXAMPLES[1], links.WIDE.text
GATES = {("cross", 1, 3): 0.0, ("encoder", 0, 0): 0.5}


def open_page(**parameters):
    app = apps.open_page("compare", **parameters)
    assert not app.exception
    return app


def click(app, label):
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
    return app


def widget(kind, key):
    """The widget of a side with this key; another one has a number behind it."""
    (match,) = [item for item in kind if re.fullmatch(rf"{key}(_\d+)?( \d+)?", item.key)]
    return match


def maps(app):
    """Both maps and their difference, and the tokens of both."""
    (match,) = [picture for picture in canvas_pictures(app) if "titles" in picture[0]]
    header, body = match
    return header, maps_of(header, np.frombuffer(body, "<f4"))


def texts(tokens):
    return [token.text for token in tokens]


def expect_sides(app, first, second):
    """The maps drawn are these weights with these tokens, and so are the differences told."""
    header, numbers = maps(app)
    tokens = [tuple(axes) for axes in header["tokens"][:2]]
    for drawn, expected, axes in zip(numbers, (first, second), tokens, strict=False):
        weights, trace, site = expected
        np.testing.assert_allclose(drawn, weights, atol=1e-5)
        queries = [label.partition(WRITES)[0] for label in axes[0]]
        assert (queries, axes[1]) == (
            texts(trace.query_tokens(site)),
            texts(trace.key_tokens(site)),
        )
    # Each difference is that of the two weights drawn.
    *_, difference = maps_of(*unpack(compared_maps(*numbers[:2], *tokens), "<f4"))
    np.testing.assert_array_equal(numbers[2], difference)
    changes = largest_changes(*numbers[:2], *tokens)
    if not changes:
        assert "no cell in common" in told(app)
    for change in changes:
        difference = f"{change.difference:+.3f}".replace("-", "−")
        query, key = (
            f"“{name}”{positions(place, *axes)}"
            for name, place, *axes in zip(change[:2], change.place, *tokens, strict=True)
        )
        assert (
            f"{query} looks at {key}: A {change.first:.3f}, "
            f"B {change.second:.3f}, difference {difference}" in told(app)
        )


def positions(place, first, second):
    """The positions of a token of both maps, if an equal one stands elsewhere in a map."""
    left, right = aligned(first, second)[place]
    if first.count(first[left]) == 1 and second.count(second[right]) == 1:
        return ""
    same = f" (token {left + 1})"
    return same if left == right else f" (token {left + 1} of A, {right + 1} of B)"


def head(trace, kind, layer, number):
    site = Site(kind, layer - 1)
    return trace.attention[site].weights[0, number - 1].numpy(), trace, site


def mean(trace, kind="cross", layer=2):
    site = Site(kind, layer - 1)
    return trace.attention[site].weights[0].mean(dim=0).numpy(), trace, site


def strips(app):
    return [h["text"] for h, _ in canvas_pictures(app) if h.get("label", "").startswith("Transl")]


def told(app):
    return "\n".join(text.value for text in app.text)


def test_the_page_opens_on_the_two_sentences_with_it(shipped):
    app = open_page()
    first, second = (head(shipped.trace(item), "encoder", 2, 2) for item in (TIRED, WIDE))
    expect_sides(app, first, second)
    assert strips(app) == [shipped.translate(TIRED).text, shipped.translate(WIDE).text]
    assert next(text.value for text in app.text).startswith("“it” looks at “street”: ")
    chosen = [button.label for button in app.button if button.proto.icon]
    assert chosen == ["It: tired or wide"]


def test_tokens_that_occur_several_times_are_told_apart(shipped):
    sentences = (
        "The cat saw the dog and the dog saw the cat.",
        "The dog saw a dog and the cat.",
    )
    app = open_page()
    for side, sentence in zip("ab", sentences, strict=True):
        app = widget(app.text_input, f"side_{side}_sentence").set_value(sentence).run()
    read = [texts(shipped.trace(sentence).source_tokens) for sentence in sentences]
    lines = [line for line in told(app).split("\n") if " looks at " in line]
    assert len(lines) > 8
    for line in lines:
        for name, which in re.findall(r"“([^”]+)”( \(token [^)]*\))?", line):
            assert bool(which) == any(tokens.count(name) > 1 for tokens in read)
            numbers = list(map(int, re.findall(r"\d+", which)))
            for tokens, number in zip(read, (numbers * 2)[:2], strict=False):
                assert tokens[number - 1] == name
    assert any(" of A, " in line for line in lines)


def test_what_is_said_of_them_is_so(shipped):
    """The words of the page about what the shipped model does with "it"."""
    app = open_page()
    assert any("writes “il” for both" in caption.value for caption in app.caption)
    traces = shipped.trace(TIRED), shipped.trace(WIDE)
    on_street = []
    for trace in traces:
        weights, _, _ = head(trace, "encoder", 2, 2)
        tokens = texts(trace.source_tokens)
        on_street.append(weights[tokens.index("it"), tokens.index("street")])
        assert "il" in texts(trace.target_tokens)
        assert "elle" not in texts(trace.target_tokens)
    assert on_street[1] > on_street[0]
    assert "wide" in texts(traces[1].source_tokens)
    widget(app.text_input, "side_b_sentence").set_value("It was too wide.").run()
    assert not any("writes “il” for both" in caption.value for caption in app.caption)


def test_two_sentences_are_each_read_with_their_own_translation(shipped):
    app = click(open_page(sentence="I love my cat."), "Two sentences")
    other = EXAMPLES[0]
    expect_sides(app, mean(shipped.trace("I love my cat.")), mean(shipped.trace(other)))
    widget(app.text_input, "side_b_sentence").set_value("I love my dog.").run()
    expect_sides(app, mean(shipped.trace("I love my cat.")), mean(shipped.trace("I love my dog.")))


def test_both_translations_are_saved_under_the_names_of_their_sides():
    captions = [menu["caption"].partition(".")[0] for menu, _ in save_menus(open_page())]
    assert captions[1:3] == ["Translation of A", "Translation of B"]


def test_two_heads_of_the_scene_of_the_other_pages(shipped):
    app = click(
        open_page(sentence="Who is that?", kind="decoder", layer="1", head="8"), "Two heads"
    )
    trace = shipped.trace("Who is that?")
    expect_sides(app, head(trace, "decoder", 1, 8), head(trace, "decoder", 1, 1))
    assert "Both decoders read" in told(app)


def test_two_models_read_one_and_the_same_text(shipped):
    app = click(open_page(sentence="I love my cat.", layer="3"), "Two models")
    other, text = load("en-fr-learned"), shipped.translate("I love my cat.").text
    traces = shipped.trace("I love my cat.", text), other.trace("I love my cat.", text)
    assert other.shape.layers("cross") == 2  # it has no third one
    expect_sides(app, mean(traces[0], layer=3), mean(traces[1], layer=2))
    assert strips(app) == [text, other.translate("I love my cat.").text]
    app.toggle(key="compare_own").set_value(True).run()
    own = other.trace("I love my cat.", other.translate("I love my cat.").text)
    expect_sides(app, mean(traces[0], layer=3), mean(own, layer=2))


def test_before_and_after_changes(shipped):
    edits = Edits(gates=GATES)
    app = open_page(sentence=TIRED)
    app.session_state["histories"] = {"en-fr": [Edits(), edits]}
    app.run()
    app.button(key="compare-changes").click().run()
    sites = edits.at_sites(shipped.shape, 70)
    original = shipped.translate(TIRED)
    before, after = shipped.trace(TIRED), shipped.trace(TIRED, original, edits=sites)
    expect_sides(app, mean(before), mean(after))
    assert not app.toast  # the head that was shown changes itself
    changed = shipped.translate(TIRED, edits=sites)
    assert strips(app) == [original.text, changed.text]
    app.toggle(key="compare_own").set_value(True).run()
    expect_sides(app, mean(before), mean(shipped.trace(TIRED, changed.text, edits=sites)))
    widget(app.toggle, "side_b_changed").set_value(False).run()
    assert app.session_state["compare_b_edits"] == ""


def test_before_and_after_is_shown_at_a_head_that_changes(shipped):
    app = open_page(sentence=TIRED, kind="cross", layer="1", head="3")
    off = Edits(gates={("cross", 0, 2): 0.0})
    app.session_state["histories"] = {"en-fr": [Edits(), off]}
    app.run()
    app.button(key="compare-changes").click().run()
    assert "whose weights change most" in app.toast[0].value
    first, second = (app.session_state[f"compare_{name}"] for name in "ab")
    place = first.kind, first.layer, first.head
    assert place == (second.kind, second.layer, second.head) != ("cross", 0, 2)
    original = shipped.translate(TIRED)
    after = shipped.trace(TIRED, original, edits=off.at_sites(shipped.shape, 70))
    runs = [trace.attention for trace in (shipped.trace(TIRED), after)]
    changes = {
        (site.kind, site.layer, head): difference
        for site, record in runs[0].items()
        for head, difference in enumerate(
            (record.weights[0] - runs[1][site].weights[0]).abs().amax(dim=(1, 2)).tolist()
        )
    }
    assert changes[place] == max(changes.values()) > 0


def test_before_and_after_stays_at_a_head_after_which_no_weights_follow():
    last = {"kind": "cross", "layer": "3", "head": "5"}
    app = open_page(sentence=TIRED, **last, edits="gate.cross.3.5.0")
    app.button(key="compare-changes").click().run()
    assert not app.toast
    sides = (app.session_state[f"compare_{name}"] for name in "ab")
    assert {(side.kind, side.layer, side.head) for side in sides} == {("cross", 2, 4)}
    assert "only the model's output can" in "".join(caption.value for caption in app.caption)


def test_probabilities_are_those_of_both_runs(shipped, monkeypatch):
    drawn = []
    chart = answers.probability_bars
    monkeypatch.setattr(
        answers,
        "probability_bars",
        lambda *parts, **more: drawn.append(parts) or chart(*parts, **more),
    )
    click(open_page(sentence="I love my cat."), "Two models")
    runs, tokens = drawn[-1]
    text = shipped.translate("I love my cat.").text
    for name, model in (("A", shipped), ("B", load("en-fr-learned"))):
        expected = trace_log_probabilities(model.trace("I love my cat.", text)).exp()
        np.testing.assert_allclose(runs[name], expected.numpy(), atol=1e-5)
    assert tokens == [*texts(shipped.begin(text)), "<end>"]


def test_two_snapshots_are_those_recorded():
    app = click(open_page(sentence="I love my cat.", head="4"), "Two snapshots")
    history = Snapshots.from_file(PRETRAINED / "en-fr" / "history.safetensors")
    number = history.sentences.index("I love my cat.")
    header, (first, second, difference) = maps(app)
    weights = history.weights[number]["cross"][:, 1, 3].numpy()
    middle = (len(history.steps) - 1) // 2
    np.testing.assert_array_equal(first, weights[middle])
    np.testing.assert_array_equal(second, weights[-1])
    np.testing.assert_allclose(difference, weights[-1] - weights[middle], atol=1e-7)
    assert f"step {history.steps[middle]:,}" in header["titles"][0]
    widget(app.select_slider, "side_a_step").set_value(history.steps[1]).run()
    header, (first, *_) = maps(app)
    np.testing.assert_array_equal(first, weights[1])
    assert f"step {history.steps[1]:,}" in header["titles"][0]


def test_a_side_taken_from_the_other_pages_stays_while_they_go_on(shipped):
    app = open_page(sentence="I love my cat.", kind="encoder", layer="1", head="2")
    app.button(key="side_a_take").click().run()
    app.session_state["sentence"] = "Who is that?"
    app.session_state["kind"], app.session_state["head"] = "decoder", 4
    app.button(key="side_b_take").click().run()
    cat, who = shipped.trace("I love my cat."), shipped.trace("Who is that?")
    expect_sides(app, head(cat, "encoder", 1, 2), head(who, "decoder", 1, 5))


def test_a_pasted_link_is_read_and_a_damaged_one_is_told(shipped):
    app = open_page()
    edits = write_edits(Edits(gates=GATES))
    parameters = {"sentence": "Who is that?", "kind": "cross", "head": "7", "edits": edits}
    link = f"https://elsewhere.example/heads?{urlencode(parameters)}"
    app.text_input(key="side_a_link").set_value(link).run()
    sites = Edits(gates=GATES).at_sites(shipped.shape, 70)
    original = shipped.translate("Who is that?")
    trace = shipped.trace("Who is that?", original, edits=sites)
    expect_sides(app, head(trace, "cross", 2, 7), head(shipped.trace(WIDE), "encoder", 2, 2))
    assert app.text_input(key="side_a_link").value == ""

    app.text_input(key="side_a_link").set_value(f"{link}&layer=77&model=own-1").run()
    assert any("too old, damaged or too long" in info.value for info in app.info)
    assert "layer, model" in told(app)
    app.run()
    assert not any("too old, damaged or too long" in info.value for info in app.info)

    before = app.session_state["compare_a"]
    for nothing in ("not a link", "https://[", "?"):
        app.text_input(key="side_a_link").set_value(nothing).run()
        assert any("not a Headlight link" in info.value for info in app.info)
        assert app.session_state["compare_a"] == before


def test_a_link_of_this_page_gives_its_same_side():
    app = open_page()
    link = "/compare?" + urlencode({"compare_b": "head=5&layer=1", "sentence": "Who is that?"})
    app.text_input(key="side_b_link").set_value(link).run()
    assert app.session_state["compare_b"] == ModelSide(layer=0, head=4)


def test_a_damaged_side_in_the_address_is_told_and_the_rest_is_shown(shipped):
    app = open_page(compare_a="head=99&layer=1&colour=red", compare_b="%%%&sentence=+")
    assert any("too old, damaged or too long" in info.value for info in app.info)
    expect_sides(app, *(mean(shipped.trace(EXAMPLES[0]), **at) for at in ({"layer": 1}, {})))
    assert app.session_state["compare_a"] == ModelSide(layer=0)


def test_a_side_at_its_default_is_read_from_a_link_of_this_page():
    app = open_page(compare_a="head=6")
    link = "http://localhost:8501/compare?compare_b=head%3D2"
    app.text_input(key="side_a_link").set_value(link).run()
    assert app.session_state["compare_a"] == SIDES["a"].default == links.TIRED


@pytest.mark.parametrize(
    ("key", "words"),
    [("snapshots of toy", "no training to show"), ("own-1", "That model is gone")],
)
def test_a_model_that_went_meanwhile_is_told(key, words):
    app = AppTest.from_string(
        """
import streamlit as st
from headlight.pages.parts.compare.choosers import change_model
change_model("a", st.session_state.chosen_model)
"""
    )
    app.session_state["chosen_model"] = key
    app.session_state["compare_a"] = ModelSide(head=5)
    app.run()
    assert not app.exception
    assert words in app.session_state["compare_told"]
    assert app.session_state["compare_a"] == ModelSide(head=5)


def test_a_sentence_that_cannot_be_read_is_not_taken_over(shipped):
    app = apps.open_page(sentence="I love my cat.")
    app.text_input(key="sentence").set_value(" ").run()
    app.switch_page("pages/compare.py").run()
    click(app, "Two heads")
    assert widget(app.text_input, "side_a_sentence").value == "I love my cat."
    assert not any("link" in info.value for info in app.info)


def test_an_empty_sentence_leaves_the_last_one():
    app = open_page()
    widget(app.text_input, "side_a_sentence").set_value("  ").run()
    assert any("sentence was empty" in info.value for info in app.info)
    assert widget(app.text_input, "side_a_sentence").value == TIRED


def test_another_model_keeps_to_the_heads_that_it_has():
    app = open_page(compare_a="kind=encoder&layer=3&head=8")
    widget(app.selectbox, "side_a_model").set_value("en-fr-learned").run()
    assert not app.exception
    assert widget(app.selectbox, "side_a_layer").value == 1
    assert widget(app.selectbox, "side_a_head").value == "mean"
    widget(app.selectbox, "side_a_model").set_value("snapshots of en-fr").run()
    assert widget(app.selectbox, "side_a_sentence").value == EXAMPLES[0]
    widget(app.selectbox, "side_a_model").set_value("en-fr").run()
    assert app.session_state["compare_a"] == ModelSide(kind="encoder")


def test_the_address_holds_both_sides_and_restores_them():
    app = open_page(sentence="I love my cat.", head="6")
    click(app, "Two heads")
    written = dict(app.session_state["address"])
    assert written["compare_a"] == "v=2&head=6&sentence=I+love+my+cat."
    again = open_page(**written)
    for name in ("compare_a", "compare_b"):
        assert again.session_state[name] == app.session_state[name]
    np.testing.assert_array_equal(maps(again)[1][1], maps(app)[1][1])


@given(
    st.text(min_size=1, max_size=80).filter(str.strip),
    st.sampled_from(["encoder", "decoder", "cross"]),
    st.integers(0, 2),
    st.sampled_from([0, 7, "mean", "max"]),
    st.text(max_size=40),
)
def test_a_side_is_read_back_as_it_was_written(sentence, kind, layer, head, target):
    chosen = ModelSide(text=sentence, kind=kind, layer=layer, head=head, target=target)
    read = read_text(write_text(chosen))
    assert (read, read.refused) == (chosen, ())


@pytest.mark.parametrize(
    ("written", "side"),
    [
        (
            "kind=decoder&layer=1&head=8&compare_snapshot=en-fr.2000&sentence=I+love+my+cat.",
            SnapshotSide(
                kind="decoder", layer=0, head=7, snapshot="en-fr.2000", text="I love my cat."
            ),
        ),
        (
            "model=transformers%3Asome%2Fbert&kind=encoder&layer=max&head=3&masked=2,3"
            "&edits=gate.encoder.1.2.0&sentence=Hi.",
            ModelSide(
                model="transformers:some/bert", kind="encoder", layer="max", head=2, masked="2,3",
                text="Hi.", edits="gate.encoder.1.2.0",
            ),
        ),
    ],
)  # fmt: skip
def test_texts_of_a_side_are_read(written, side):
    for text in (written, write_text(side)):
        assert read_text(text) == side
        assert read_text(text).refused == ()


def test_a_link_with_two_long_sentences_and_changes_stays_short():
    sentence = " ".join(["several", "rather", "unusual", "sentences", "require", "patience"] * 5)
    edits = "~".join(f"gate.cross.{layer}.{head}.0" for layer in (1, 2) for head in range(1, 9))
    assert len(edits) <= LONGEST_EDITS
    first = ModelSide(text=sentence, kind="encoder", layer=2, head=7, model="en-fr-learned")
    second = replace(first, text=sentence + "x")
    values = {choice.key: choice.default for choice in PAGE.linked}
    values |= {"sentence": sentence, "edits": edits, "kind": "encoder", "layer": 2, "head": 7}
    values |= {"compare_a": first, "compare_a_edits": edits, "compare_own": True}
    values |= {"compare_b": second, "compare_b_edits": edits}
    parameters = write_parameters(PAGE.linked, values)
    assert {"compare_a", "compare_b", "compare_a_edits", "compare_b_edits"} <= set(parameters)
    assert len(f"http://headlight.example/compare?{urlencode(parameters)}") < 2_000


def test_edits_too_long_for_a_link_are_left_out_and_told():
    edits = "~".join(
        f"close.encoder.{1 + position % 3}.all.{position}.1" for position in range(1, 40)
    )
    values = {choice.key: choice.default for choice in PAGE.linked}
    values["compare_a_edits"] = edits
    assert "compare_a_edits" not in write_parameters(PAGE.linked, values)
    assert write_parameters(PAGE.linked, values, whole=True)["compare_a_edits"] == edits
    app = open_page()
    app.session_state["compare_a_edits"] = edits
    app.run()
    assert any("too many changes for a link" in info.value for info in app.info)


def test_reading_a_side_never_fails():
    for text in ("", "&&&", "=", "model=&layer=&head=", "compare_snapshot=toy.1&layer=4", "\x00=1"):
        side = replace(read_text(text), edits="nonsense~~").fitted()
        assert side.edits == ("nonsense~~" if "toy" in text else "")


def test_edits_of_a_side_that_make_no_sense_are_left_out_of_the_others_and_told():
    app = open_page(compare_b_edits="gate.cross.2.5.0~nonsense~gate.cross.9.1.0~look-ahead.off")
    assert app.session_state["compare_b_edits"] == "gate.cross.2.5.0~look-ahead.off"
    assert any("too old, damaged or too long" in info.value for info in app.info)
    side = ModelSide(edits="too-many").fitted()
    assert (side.edits, side.refused) == ("", ("edits",))


def test_edits_that_a_link_had_no_room_for_are_told():
    side = read_text("head=3&edits=too-many")
    assert (side.edits, side.refused) == ("", ("edits",))


def test_choices_of_other_pages_in_a_pasted_link_are_no_fault_of_it():
    app = open_page()
    pasted = "/masks?mask_kind=cross&sentence=Who+is+that%3F&v=2&embed_options=dark_theme"
    widget(app.text_input, "side_a_link").set_value(pasted).run()
    assert app.session_state["compare_a"].text == "Who is that?"
    assert not any("too old, damaged or too long" in info.value for info in app.info)
