import numpy as np
import pytest

from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.model.insight.attribution import sum_score
from headlight.model.insight.explain import explain
from headlight.model.insight.lens import word_similarity
from headlight.model.library.pieces import as_pieces
from headlight.model.transformer.trace import Site
from headlight.model.translator import choose_objective
from tests.matrix import first_of
from tests.model.insight.recording import weight_of
from tests.pages import apps
from tests.pages.apps import go_to, open_with
from tests.pages.pictures import canvas_pictures, heatmaps, save_menus

SENTENCE = "My sister sold seven boats."
QUERY, KEY, HEAD, LAYER = 3, 2, 4, 1  # from 0


def open_page(kind="cross", **choices):
    place = {"layer": LAYER + 1, "head": HEAD + 1, "query": QUERY + 1, "key": KEY + 1}
    place = {name: str(value) for name, value in place.items()}
    app = apps.open_page("inside", **{"sentence": SENTENCE, "kind": kind, **place, **choices})
    assert not app.exception
    return app


def rows(app):
    """The rows of all pictures of vectors, by their labels."""
    found = {}
    for header, body in canvas_pictures(app):
        if "rows" not in header or "marked" not in header:
            continue
        values = np.frombuffer(body, np.float32).reshape(len(header["rows"]), -1)
        for row, numbers in zip(header["rows"], values, strict=True):
            found.setdefault(row["label"], (row, numbers, header))
    return found


def lens_of(app):
    """The header and the bytes of the picture of what each layer would write."""
    return next(found for found in canvas_pictures(app) if "settled" in found[0])


def test_a_first_visit_opens_on_the_weight_that_attention_opens_on():
    app = apps.open_page("inside")
    at = [(choice, app.session_state[choice]) for choice in ("layer", "head", "query", "key")]
    attention = apps.open_page("attention")
    assert at == [(choice, attention.session_state[choice]) for choice, _ in at]
    assert f"{app.metric[0].value} " in " ".join(text.value for text in attention.text)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_the_story_is_told_in_the_numbers_of_the_run(kind, shipped):
    app = open_page(kind)
    trace = shipped.trace(SENTENCE)
    record = trace.attention[Site(kind, LAYER)]
    assert app.metric[0].value == f"{record.weights[0, HEAD, QUERY, KEY]:.3f}"
    shown = rows(app)
    for label, expected in {
        "value": record.value[0, HEAD, KEY],
        "scores": record.scores[0, HEAD, QUERY],
        "weights": record.weights[0, HEAD, QUERY],
        "the head's output": record.heads[0, HEAD, QUERY],
    }.items():
        np.testing.assert_allclose(shown[label][1], expected, atol=1e-5)
    product = record.query[0, HEAD, QUERY] * record.key[0, HEAD, KEY]
    np.testing.assert_allclose(shown["query × key"][1], product, atol=1e-4)
    keys = [token.text for token in trace.key_tokens(Site(kind, LAYER))]
    assert shown["weights"][2]["columns"] == keys
    assert shown["weights"][2]["marked"] == [KEY]
    blocked = record.masked_scores[0, HEAD, QUERY].isneginf().numpy()
    np.testing.assert_array_equal(np.isnan(shown["masked scores"][1]), blocked)


def test_the_formula_of_the_softmax_is_that_of_its_numbers(shipped):
    app = open_page("cross")
    scores = shipped.trace(SENTENCE).attention[Site("cross", LAYER)].masked_scores[0, HEAD, QUERY]
    powers = (scores - scores.max()).exp()
    formula = next(block.value for block in app.latex if r"\sum_j" in block.value)
    assert r"\frac{e^{s_k - m}}{\sum_j e^{s_j - m}}" in formula
    assert rf"\frac{{{powers[KEY]:.3f}}}{{{powers.sum():.3f}}} = " in formula
    assert rf"m = \max_j s_j = {scores.max():.3f}" in formula


def test_the_words_of_every_step_stand_above_its_pictures():
    types = [
        "title" if element.type == "markdown" else element.type
        for element in open_page("encoder").main
        if element.type in {"caption", "bidi_component"}
        or (element.type == "markdown" and element.value.startswith("**"))
    ]
    steps = " ".join(types[types.index("title") :]).split("title ")[1:]
    assert len(steps) == 9
    assert all(step.startswith("caption") for step in steps)


def test_what_is_shown_adds_up(shipped):
    shown = rows(open_page())
    row, _, _ = shown["query × key"]
    total = sum(round(1e4 * float(text.replace("−", "-"))) for text in row["texts"])
    assert total == round(1e4 * float(row["note"].removeprefix("sum ").replace("−", "-")))
    heads = [numbers for label, (_, numbers, _) in shown.items() if label.startswith("head ")]
    assert len(heads) == 8
    summed = np.sum(heads, axis=0) + shown["bias"][1]
    np.testing.assert_allclose(summed, shown["what is added"][1], atol=1e-4)
    after = shown["before"][1] + shown["what is added"][1]
    np.testing.assert_allclose(after, shown["after"][1], atol=1e-4)
    positioned = shown["embedding, scaled"][1] + shown["position"][1]
    np.testing.assert_allclose(positioned, shown["their sum"][1], atol=1e-5)


def test_other_tabs_show_what_the_model_says(shipped):
    app = open_page(inside_tab="beyond")
    trace, site = shipped.trace(SENTENCE), Site("cross", LAYER)
    weight = weight_of(shipped.model, trace, site, HEAD, QUERY)
    found = explain(weight, choose_objective(trace, site, QUERY))
    shown = rows(app)
    np.testing.assert_allclose(shown["Rollout"][1], found.rollout, atol=1e-5)
    np.testing.assert_allclose(shown["Effect of closing the cell"][1], found.removals, atol=1e-4)
    assert found.objective.texts[0] in app.text[0].value


@pytest.mark.parametrize("against", ["none", "5"])
def test_why_it_looks_there_adds_up_to_the_score(against, shipped):
    app = open_page(inside_tab="why", why_against=against)
    trace, site = shipped.trace(SENTENCE), Site("cross", LAYER)
    expected = sum_score(weight_of(shipped, trace, site, HEAD, QUERY, key=KEY))
    ends = ["raises the score", "lowers it"]
    if against != "none":
        expected = expected.minus(sum_score(weight_of(shipped, trace, site, HEAD, QUERY, key=4)))
        keys = trace.key_tokens(site)
        ends = [f"for “{keys[KEY].text}”", f"for “{keys[4].text}”"]
    (values, header), *_ = heatmaps(app)
    np.testing.assert_allclose(values, expected.pairs, atol=1e-5)
    assert header["rows"][:3] == ["embedding", "position", "head 1.1"]
    assert "cross head 1.1" in header["rows"]
    bars = [
        (header, np.frombuffer(body, np.float32))
        for header, body in canvas_pictures(app)
        if "ends" in header
    ]
    assert len(bars) == 3
    for header, parts in bars:
        assert header["ends"] == ends
        assert header["sum"] == pytest.approx(expected.score, abs=1e-5)
        assert parts.sum() == pytest.approx(expected.score, abs=1e-4)
    pairs, numbers = bars[0]
    assert len(pairs["names"]) == 11
    place = expected.largest(1)[0]
    assert numbers[0] == pytest.approx(expected.pairs[place].item(), abs=1e-5)
    assert apps.address(app).get("why_against", "none") == against


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["GPT-2", "T5", "BART"])
def test_why_another_model_looks_there_or_why_not(name, transformers_folders):
    place = {"inside_tab": "why", "layer": "1", "head": "2", "query": "3", "key": "2"}
    app = open_with(transformers_folders[name], "inside", sentence="I love my cat.", **place)
    said = " ".join(text.value for text in (*app.info, *app.caption))
    assert ("no plain sum of what its blocks add" in said) == (name == "BART")
    assert bool(heatmaps(app)) == (name != "BART")
    assert [box.label for box in app.selectbox].count("Compared with the key") == (name != "BART")
    assert ("output is one part here" in said) == (name == "T5")


def test_at_temperature_one_the_weights_are_those_of_the_run():
    app = open_page("decoder", inside_tab="switches")
    shown = rows(app)
    run = shown["weights of the run"][1]
    again = next(
        numbers for label, (_, numbers, _) in shown.items() if label.startswith("with q·k")
    )
    np.testing.assert_allclose(again, run, atol=1e-5)
    app.toggle(key="scale_on").set_value(False).run()
    sharper = next(n for label, (_, n, _) in rows(app).items() if label.startswith("with q·k"))
    assert sharper.max() >= run.max()


def test_a_model_that_does_not_scale_has_no_switch_for_it(transformers_folders):
    app = open_with(transformers_folders["T5"], "inside", inside_tab="switches", kind="encoder")
    assert "scale_on" not in [toggle.key for toggle in app.toggle]
    assert "This model does not scale q·k." in [text.value for text in app.text]
    shown = rows(app)
    again = next(n for label, (_, n, _) in shown.items() if label.startswith("with q·k"))
    np.testing.assert_allclose(again, shown["weights of the run"][1], atol=1e-5)


def test_a_link_holds_the_scale_and_the_temperature(shipped):
    app = open_page("decoder", inside_tab="switches")
    app.toggle(key="scale_on").set_value(False).run()
    app.slider(key="softmax_temperature").set_value(2.5).run()
    link = dict(app.query_params)
    assert link["inside_tab"] == "switches"
    again = apps.open_page("inside", **link)
    assert not again.exception
    record = shipped.trace(SENTENCE).attention[Site("decoder", LAYER)]
    scores = record.query[0, HEAD, QUERY] @ record.key[0, HEAD, : QUERY + 1].T / 2.5
    shown = next(n for label, (_, n, _) in rows(again).items() if label.startswith("with q·k"))
    np.testing.assert_allclose(shown[: QUERY + 1], scores.softmax(dim=-1), atol=1e-5)
    assert not shown[QUERY + 1 :].any()


def test_a_link_holds_the_words():
    app = open_page(inside_tab="words", words="one, two")
    assert heatmaps(app)[0][1]["rows"] == ["one", "two"]
    assert app.query_params["words"] == "one, two"


def test_the_widths_of_heads_are_of_no_model(shipped):
    app = open_page(inside_tab="switches")
    captions = {header["what"]: header["caption"] for header, _ in save_menus(app)}
    assert "Model" not in captions["Largest weight by the width of a head"]
    assert "query 4 “a → vendu”, key 3 “sold”" in captions["ReLU and GELU"]


def test_the_lens_ends_with_what_is_written(shipped):
    header, body = lens_of(open_page(inside_tab="stream"))
    following = [token.text for token in shipped.translate(SENTENCE).target_tokens]
    assert header["layers"][-1] == f"layer {shipped.shape.layers('decoder')}"
    assert [best[0] for best in header["words"][-1]] == following
    assert header["ranks"][-1] == [1] * len(following)
    likeliest = np.frombuffer(body, np.float32).reshape(len(header["layers"]), len(following), 3)
    logits = shipped.trace(SENTENCE).logits[0]
    expected = logits.softmax(dim=-1).amax(dim=-1)
    np.testing.assert_allclose(likeliest[-1, :, 0], expected, atol=1e-5)


@pytest.mark.parametrize("name", first_of(["GPT-2", "T5"]))
def test_the_stream_of_a_library_model_is_in_its_lens_and_its_steps(name, transformers_folders):
    kind = "cross" if name == "T5" else "decoder"
    place = {"sentence": "I love my cat.", "kind": kind, "layer": "1", "query": "2", "key": "1"}
    app = open_with(transformers_folders[name], "inside", inside_tab="stream", **place)
    header, _ = lens_of(app)
    assert header["ranks"][-1] == [1] * len(header["read"])
    shown = rows(open_with(transformers_folders[name], "inside", inside_tab="steps", **place))
    after = shown["before"][1] + shown["what is added"][1]
    np.testing.assert_allclose(after, shown["after"][1], atol=1e-4)
    summed = shown["their sum, without a bias"][1]
    if name == "T5":  # which has no biases
        np.testing.assert_allclose(summed, shown["what is added"][1], atol=1e-4)


def test_words_are_compared_and_unknown_ones_explained(shipped):
    app = open_page(inside_tab="words")
    assert not app.metric  # it is about no single weight
    expected = word_similarity(shipped, ["king", "queen", "moon"])
    np.testing.assert_allclose(heatmaps(app)[0][0], expected.embeddings, atol=1e-5)
    np.testing.assert_allclose(heatmaps(app)[1][0], expected.outputs, atol=1e-5)
    app = open_page(inside_tab="words", model="en-fr-learned")  # whose vocabulary has no bytes
    (box,) = [box for box in app.text_input if box.label.startswith("Words")]
    box.set_value("king, 漢").run()
    assert not app.exception
    assert "漢" in app.text[0].value


def test_edits_are_taken_apart_unless_the_model_is_wanted_as_trained(shipped):
    edits = write_edits(Edits(cells=(CellEdit("cross", QUERY, KEY, opened=False),)))
    app = open_page(edits=edits)
    assert app.metric[0].value == "0.000"
    assert np.isnan(rows(app)["masked scores"][1][KEY])
    app.button(key="ignore-changes").click().run()
    weight = shipped.trace(SENTENCE).attention[Site("cross", LAYER)].weights[0, HEAD, QUERY, KEY]
    assert app.metric[0].value == f"{weight:.3f}"


def test_a_head_that_is_off_is_named_so():
    app = open_page(edits=f"gate.cross.{LAYER + 1}.{HEAD + 1}.0")
    assert app.metric[0].label == "Weight: Cross-attention, layer 2, head 5, off"
    app.button(key="ignore-changes").click().run()
    assert app.metric[0].label == "Weight: Cross-attention, layer 2, head 5"


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_it_opens_on_the_clearest_weight_of_the_head(kind, shipped):
    app = apps.open_page("inside", sentence=SENTENCE, kind=kind, layer="2", head="6")
    query, key = app.session_state["query"], app.session_state["key"]
    trace = shipped.trace(SENTENCE)
    site = Site(kind, 1)
    row = trace.attention[site].weights[0, 5, query]
    assert row.argmax() == key
    assert app.metric[0].value == f"{row[key]:.3f}"
    tokens = trace.query_tokens(site)[query], trace.key_tokens(site)[key]
    assert not any(token.is_special for token in as_pieces(tokens))
    if kind != "cross":
        assert tokens[0].text != tokens[1].text


def test_a_weight_that_nobody_chose_follows_the_text(shipped):
    app = apps.new_app().run()  # on the example that Attention opens on
    lit = app.session_state["query"], app.session_state["key"]
    go_to(app, "inside")
    assert (app.session_state["query"], app.session_state["key"]) == lit
    app.text_input(key="sentence").set_value(SENTENCE).run()
    cell = app.session_state["query"], app.session_state["key"]
    kind, layer, head = (app.session_state[name] for name in ("kind", "layer", "head"))
    weights = shipped.trace(SENTENCE).attention[Site(kind, layer)].weights[0, head]
    assert weights[cell[0]].argmax() == cell[1]
    app.selectbox(key="head").set_value(7 if head != 7 else 6).run()
    weights = shipped.trace(SENTENCE).attention[Site(kind, layer)].weights[0]
    cell = app.session_state["query"], app.session_state["key"]
    assert weights[app.session_state["head"], cell[0]].argmax() == cell[1], "another head"
    app.selectbox(key="query").set_value(1).run()
    app.text_input(key="sentence").set_value("We sing a song.").run()
    assert (app.session_state["query"], app.session_state["key"]) == (1, cell[1])


def test_a_link_may_name_only_the_query():
    app = apps.open_page("inside", sentence=SENTENCE, query="3")
    assert not app.exception
    assert (app.session_state["query"], app.session_state["key"]) == (2, 0)


def test_a_place_beyond_the_sentence_is_brought_back_into_it():
    app = apps.open_page("inside", sentence="Go.", query="200", key="200", head="max")
    assert not app.exception
    assert app.session_state["query"] < 5
    assert app.session_state["head"] in range(8)


@pytest.mark.matrix
@pytest.mark.parametrize("masked", ["", "2"])
def test_a_weight_of_a_bert_is_taken_apart_in_the_numbers_of_its_run(masked, bert_folder, bert):
    place = {"layer": "2", "head": "4", "query": "3", "key": "6", "kind": "encoder"}
    texts = {"sentence": "the cat was playing.", "second": "unbelievable dogs!"}
    hidden = {"masked": masked} if masked else {}
    for tab in ("story", "why", "beyond", "switches", "stream"):
        app = open_with(bert_folder, "inside", inside_tab=tab, **place, **texts, **hidden)
        trace = bert.trace(
            texts["sentence"], second=texts["second"], masked=[int(masked)] if masked else []
        )
        weight = trace.attention[Site("encoder", 1)].weights[0, 3, 2, 5]
        if tab == "story":
            assert app.metric[0].value == f"{weight:.3f}"
        if tab == "beyond":
            said = " ".join(text.value for text in (*app.markdown, *app.text, *app.caption))
            assert ("Effect of closing" in str(sorted(rows(app)))) == bool(masked), said


def test_places_that_a_bert_does_not_have_are_brought_back(bert_folder):
    open_with(bert_folder, "inside", layer="99", head="50", query="400", key="400")
