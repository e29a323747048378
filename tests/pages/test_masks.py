import numpy as np
import pytest

from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.transformer.trace import Site
from headlight.model.translator import load
from headlight.viz.numbers import number_text
from tests.pages.apps import button, edited, go_back, open_page
from tests.pages.pictures import canvas_pictures, heatmaps

SENTENCE = "My sister sold seven boats."


@pytest.fixture
def app():
    app = open_page("masks", sentence=SENTENCE, layer="2")
    assert not app.exception
    return app


def traced(shipped, edits, pad_to=None):
    translation = shipped.translate(SENTENCE)
    length = len(translation.target_tokens)
    sites = edits.at_sites(shipped.shape, 30, length)
    return shipped.trace(SENTENCE, translation, edits=sites, pad_to=pad_to)


def states(app):
    """The cells of the mask in force: 0 blocked, 1 visible, 2 closed, 3 opened."""
    for header, body in canvas_pictures(app):
        if header.get("editable"):
            return np.frombuffer(body, np.uint8).reshape(len(header["queries"]), -1)
    raise AssertionError("The page shows no mask to change.")


def open_tab(app, name):
    """Open what is below the mask in force."""
    app.segmented_control(key="masks_tab").set_value(name).run()
    assert not app.exception


def metric(app, label):
    """The figure whose label begins so."""
    return next(found for found in app.metric if found.label.startswith(label))


def test_the_stages_are_those_of_the_run(app, shipped):
    record = traced(shipped, Edits()).attention[Site("decoder", 1)]
    (scores, _), (masked, _), (weights, _), (change, _) = heatmaps(app)[:4]
    np.testing.assert_allclose(scores, record.scores[0, 0], atol=1e-4)
    blocked = record.masked_scores[0, 0].isneginf().numpy()
    np.testing.assert_array_equal(np.isnan(masked), blocked)
    np.testing.assert_array_equal(np.isnan(weights), blocked)
    np.testing.assert_allclose(weights[~blocked], record.weights[0, 0][~blocked], atol=1e-5)
    assert not change.any()


def test_look_ahead_off_opens_the_upper_triangle_and_changes_the_loss(app, shipped):
    app.toggle(key="look-ahead").set_value(False).run()
    trace = traced(shipped, Edits(off=("look-ahead",)))
    weights = trace.attention[Site("decoder", 1)].weights[0, 0].numpy()
    np.testing.assert_allclose(heatmaps(app)[2][0], weights, atol=1e-5)
    score = trace_log_probabilities(trace).sum().item()
    assert app.metric[0].value == f"{number_text(score)} nats"
    assert set(np.unique(states(app))) == {1, 3}


def test_padding_is_there_and_can_be_opened(app, shipped):
    tokens = max(len(shipped.read(SENTENCE)), len(shipped.translate(SENTENCE).target_tokens))
    app.segmented_control(key="mask_kind").set_value("encoder").run()
    app.selectbox(key="pad_to").set_value(tokens + 3).run()
    padded = tokens + 3 - len(shipped.read(SENTENCE))
    assert (states(app)[:, -padded:] == 0).all()
    app.toggle(key="padding").set_value(False).run()
    assert (states(app)[:, -padded:] == 3).all()
    trace = traced(shipped, Edits(off=("padding",)), tokens + 3)
    weights = trace.attention[Site("encoder", 1)].weights[0, 0].numpy()
    np.testing.assert_allclose(heatmaps(app)[2][0], weights, atol=1e-5)


def test_where_open_padding_is_seen_is_said_and_one_click_away(app):
    app.selectbox(key="pad_to").set_value(app.selectbox(key="pad_to").options[-1]).run()
    app.toggle(key="padding").set_value(False).run()
    assert any("The change is in the encoder" in info.value for info in app.info)
    next(b for b in app.button if b.label == "Show the encoder's mask").click().run()
    assert app.session_state["mask_kind"] == "encoder"
    assert (states(app)[:, -1] == 3).all()
    assert not any("The change is in the encoder" in info.value for info in app.info)


def test_a_padding_that_another_sentence_does_not_take_is_off(app):
    tokens = max(len(load("en-fr").read(SENTENCE)), 10)
    app.selectbox(key="pad_to").set_value(tokens + 5).run()
    app.text_input(key="sentence").set_value("Go.").run()
    assert app.selectbox(key="pad_to").value is None


def test_a_window_closes_far_cells_of_its_kind_only(app):
    app.selectbox(key="window").set_value((1,)).run()
    rows = np.arange(len(states(app)))
    distance = rows[:, None] - rows
    np.testing.assert_array_equal(states(app) == 2, distance > 1)
    app.segmented_control(key="mask_kind").set_value("encoder").run()
    assert (states(app) == 1).all()


def test_a_wider_window_of_a_link_is_shown(app):
    go_back(app, edits="window.decoder.7")
    assert edited(app.selectbox, "window").value == (7,)


def test_no_window_is_a_choice_that_cannot_be_cleared(app):
    box = edited(app.selectbox, "window").proto
    assert (box.options[0], box.required) == ("Local window: none", True)


def test_undo_takes_changes_back_one_by_one(app):
    app.selectbox(key="window").set_value((1,)).run()
    app.toggle(key="look-ahead").set_value(False).run()
    button(app, "Undo").click().run()
    assert edited(app.toggle, "look-ahead").value
    assert app.selectbox(key="window").value == (1,)
    button(app, "Undo").click().run()
    assert edited(app.selectbox, "window").value is None
    assert set(np.unique(states(app))) == {0, 1}


def test_a_known_target_can_be_typed(app, shipped):
    app.text_input(key="target").set_value("Ma sœur dort.").run()
    score = trace_log_probabilities(shipped.trace(SENTENCE, "Ma sœur dort.")).sum().item()
    assert app.metric[0].value == f"{number_text(score)} nats"


def test_the_model_without_mask_knows_the_answer_and_nothing_else(app, shipped):
    open_tab(app, "ahead")
    unmasked = load("en-fr-unmasked")
    target = shipped.translate(SENTENCE).text
    scores = trace_log_probabilities(unmasked.trace(SENTENCE, target))
    assert app.metric[-1].label == "The log-probability of the whole target"
    assert app.metric[-1].value == f"{number_text(scores.sum().item())} nats"
    assert scores.mean() > -0.5
    assert unmasked.translate(SENTENCE).text != target


@pytest.mark.parametrize(
    ("method", "blocked_row", "forbidden"),
    [("-inf", "0.000", "0.000"), ("large negative", "1.000", "1.000")],
)
def test_a_blocked_row_shows_what_each_way_of_blocking_does(app, method, blocked_row, forbidden):
    open_tab(app, "blocking")
    app.segmented_control(key="method").set_value(method).run()
    assert metric(app, "Sum of the blocked row").value == blocked_row
    assert metric(app, "Sums of the other rows").value == "1.000 to 1.000"
    assert metric(app, "Weight on blocked").value == forbidden


def test_zeroing_after_the_softmax_breaks_the_sums(app):
    open_tab(app, "blocking")
    app.segmented_control(key="method").set_value("zero after").run()
    lowest, _, highest = metric(app, "Sums of the other rows").value.split()
    assert float(lowest) < 0.999
    assert float(highest) == pytest.approx(1, abs=1e-3)


def test_a_row_of_edits_survives_another_sentence(app):
    cells = (CellEdit("decoder", 40, 40, opened=False), CellEdit("decoder", 1, 0, False))
    app.session_state["histories"] = {"en-fr": [Edits(), Edits(cells=cells)]}
    app.text_input(key="sentence").set_value("Go.").run()
    assert not app.exception
    assert states(app)[1, 0] == 2


def test_what_is_off_is_called_so(app):
    boxes = {box.label: box.proto.placeholder for box in app.selectbox}
    assert boxes["Pad both sides to"] == "off"
    assert boxes["Local window"] == "Local window: none"


def test_a_padding_mask_without_padding_says_to_pad_first(app):
    app.toggle(key="padding").set_value(False).run()
    assert any("Choose a length to pad to first" in info.value for info in app.info)
    app.selectbox(key="pad_to").set_value(app.selectbox(key="pad_to").options[1]).run()
    assert not any("to pad to first" in info.value for info in app.info)


def test_a_padding_mask_without_padding_pads_by_a_click(app, shipped):
    app.toggle(key="padding").set_value(False).run()
    button(app, "Pad to 16").click().run()
    assert app.selectbox(key="pad_to").value == 16
    assert not any("nothing to hide" in info.value for info in app.info)
    assert states(app).shape == (16, 16)
    app.text_input(key="sentence").set_value("The dog ate the meat. " * 3).run()
    longest = shipped.trace(app.text_input(key="sentence").value).longest
    button(app, f"Pad to {longest + 1}").click().run()
    assert states(app).shape == (longest + 1, longest + 1)


def test_rows_of_tokens_read_and_to_be_written_are_explained(app):
    def is_said():
        return any("read, an arrow, and" in caption.value for caption in app.caption)

    assert is_said()
    app.segmented_control(key="mask_kind").set_value("encoder").run()
    assert not is_said()


def test_why_the_loss_rises_without_the_look_ahead_mask_is_said_beside_it(app):
    app.toggle(key="look-ahead").set_value(False).run()
    assert any("never learned to use what it sees" in info.value for info in app.info)


def test_the_head_of_an_address_is_the_one_whose_mask_is_shown():
    app = open_page("masks", mask_kind="encoder", layer="3", head="6")
    assert app.selectbox(key="head").value == 5
    assert open_page("masks", head="mean").selectbox(key="head").value == 0
