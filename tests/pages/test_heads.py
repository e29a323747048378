import numpy as np
import pytest

from headlight.model.edits import Edits, write_edits
from headlight.model.insight.ablation import head_removals
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.transformer.trace import Site
from headlight.viz.numbers import number_text
from tests.pages.apps import (
    address,
    button,
    open_page,
    open_with,
    pictures_below,
    with_heads_measured,
)
from tests.pages.pictures import canvas_pictures, heatmaps

SENTENCE = "My sister sold seven boats."
GATES = {("cross", 1, 3): 0.0, ("encoder", 0, 0): 0.5}


@pytest.fixture
def app():
    app = open_page("heads", sentence=SENTENCE, kind="cross", layer="2", head="4")
    assert not app.exception
    return app


def put_in_force(app, edits):
    app.session_state["histories"] = {"en-fr": [Edits(), edits]}
    return app.run()


def board(app):
    """The gates on the switchboard by kind."""
    (header,) = [header for header, _ in canvas_pictures(app) if "kinds" in header][:1]
    return {kind["name"]: np.array(kind["gates"]) for kind in header["kinds"]}


def translations(app):
    """The two translations shown, by what they are."""
    headers = [header for header, _ in canvas_pictures(app)]
    return {h["label"]: h for h in headers if h.get("label", "").startswith("Translation")}


def test_all_heads_are_on_at_first(app):
    assert {kind: gates.shape for kind, gates in board(app).items()} == {
        "encoder": (5, 8),
        "decoder": (3, 8),
        "cross": (3, 8),
    }
    assert all((gates == 1).all() for gates in board(app).values())
    assert len(translations(app)) == 1


def test_gates_in_force_change_translation_and_score(app, shipped):
    edits = Edits(gates=GATES)
    put_in_force(app, edits)
    assert board(app)["cross"][1, 3] == 0
    assert board(app)["encoder"][0, 0] == 0.5
    sites = edits.at_sites(shipped.shape, 70)
    original = shipped.translate(SENTENCE)
    *_, changed = translations(app).values()
    assert changed["text"] == shipped.translate(SENTENCE, edits=sites).text
    trace = shipped.trace(SENTENCE, original, edits=sites)
    score = trace_log_probabilities(trace).sum().item()
    assert app.metric[0].value == f"{number_text(score)} nats"


def test_how_likely_tokens_are_stands_under_what_it_does_to_the_output(app):
    heading = "What it does to the output"
    (column,) = [each for each in app.columns if heading in [at.value for at in each.subheader]]
    assert pictures_below(column) == ["probabilities"]


def test_the_map_is_that_of_the_selected_head_with_the_changes(app, shipped):
    edits = Edits(gates=GATES)
    put_in_force(app, edits)
    sites = edits.at_sites(shipped.shape, 70)
    trace = shipped.trace(SENTENCE, shipped.translate(SENTENCE), edits=sites)
    expected = trace.attention[Site("cross", 1)].weights[0, 3].numpy()
    np.testing.assert_allclose(heatmaps(app)[0][0], expected, atol=1e-5)


def test_the_fader_sets_the_gate_of_the_selected_head(app):
    app.slider(key="fader").set_value(0.25).run()
    assert board(app)["cross"][1, 3] == 0.25
    assert app.session_state["histories"]["en-fr"][-1].gates == {("cross", 1, 3): 0.25}
    app.slider(key="fader").set_value(1.0).run()
    assert app.session_state["histories"]["en-fr"][-1].gates == {}


def test_measuring_fills_the_effect_of_every_head(app, shipped):
    with_heads_measured(app)
    (header,) = [h for h, _ in canvas_pictures(app) if "effects" in h][-1:]
    original = shipped.translate(SENTENCE)
    whole = trace_log_probabilities(shipped.trace(SENTENCE, original)).sum()
    shown = {kind["name"]: np.array(kind["effects"]) for kind in header["effects"]}
    for kind, layer, head in (("encoder", 0, 0), ("decoder", 2, 7), ("cross", 1, 3)):
        sites = Edits(gates={(kind, layer, head): 0.0}).at_sites(shipped.shape, 70)
        trace = shipped.trace(SENTENCE, original, edits=sites)
        expected = (trace_log_probabilities(trace).sum() - whole).item()
        assert shown[kind][layer, head] == pytest.approx(expected, abs=1e-3)


def test_a_summary_chosen_on_the_attention_page_shows_the_first_head():
    app = open_page("heads", head="mean")
    assert not app.exception
    assert "head 1" in app.slider(key="fader").label


def test_switched_heads_of_a_bert_are_those_of_the_run_drawn(bert_folder, bert):
    edits = Edits(gates={("encoder", 0, 1): 0.0, ("encoder", 1, 3): 0.5})
    texts = {"sentence": "the cat was playing.", "second": "unbelievable dogs!"}
    place = {"kind": "encoder", "layer": "3", "head": "1"}
    app = open_with(bert_folder, "heads", edits=write_edits(edits), **texts, **place)
    assert board(app)["encoder"].tolist() == [[1, 0, 1, 1], [1, 1, 1, 0.5], [1, 1, 1, 1]]
    before = bert.trace(texts["sentence"], second=texts["second"])
    after = bert.trace(
        texts["sentence"], second=texts["second"], edits=edits.at_sites(bert.shape, 20)
    )
    site = Site("encoder", 2)
    np.testing.assert_allclose(heatmaps(app)[0][0], after.attention[site].weights[0, 0], atol=1e-6)
    unchanged = before.attention[site].weights[0, 0].numpy()
    assert np.abs(heatmaps(app)[0][0] - unchanged).max() > 1e-3
    change = after.outputs["encoder"] - before.outputs["encoder"]
    moved = (change.norm(dim=-1) / before.outputs["encoder"].norm(dim=-1)).mean()
    assert app.metric[0].value == f"{number_text(100 * moved, 1, signed=True)} %"
    button(app, "Undo all").click().run()
    assert "edits" not in address(app)


def test_what_a_bert_predicts_is_said_below_the_switches_once_heads_are_off(bert_folder):
    text = "the cat was [MASK]."
    app = open_with(bert_folder, "heads", sentence=text, edits="gate.encoder.1.1.0")
    (said,) = (text.value for text in app.text if "nats" in text.value)
    assert said.startswith("The likeliest in place of token 5 ")
    assert "Log-probability of the likeliest words: " in said
    button(app, "Undo all").click().run()
    assert not [text.value for text in app.text if "nats" in text.value]


def test_switched_heads_that_a_bert_does_not_have_are_told_and_left_out(bert_folder):
    switched = "gate.encoder.1.2.0~gate.encoder.99.1.0"
    app = open_with(bert_folder, "heads", edits=switched)
    assert any("damaged" in info.value for info in app.info)
    assert address(app)["edits"] == "gate.encoder.1.2.0"


def test_heads_are_measured_on_one_token_alone(shipped):
    sentence = "I love my cat."
    app = open_page("heads", sentence=sentence, measured="2")
    assert app.selectbox(key="measured").value == 1
    with_heads_measured(app)
    trace = shipped.trace(sentence, shipped.translate(sentence))
    objective = shipped.objective(trace).only(1)
    (header,) = [h for h, _ in canvas_pictures(app) if "effects" in h][-1:]
    shown = {kind["name"]: np.array(kind["effects"]) for kind in header["effects"]}
    for site, change in head_removals(shipped, trace, objective=objective):
        np.testing.assert_allclose(shown[site.kind][site.layer], change, atol=1e-4)


def test_a_decoders_prompt_and_what_it_writes_have_names_of_their_own(transformers_folders):
    app = open_with(transformers_folders["GPT-2"], "heads", edits="gate.decoder.1.1.0")
    (said,) = (text.value for text in app.text if "nats" in text.value)
    assert said.startswith("The continuation ")
    assert "Log-probability of the prompt after its first token: " in said
    assert "The log-probability of the prompt after its first token" in app.metric[0].label
