import json
import unicodedata

import numpy as np
import pytest

from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.transformer.positions import sinusoids
from headlight.model.transformer.trace import Site
from headlight.model.translator import load
from headlight.pages.parts.positions.effects import permutation_differences, shuffled
from headlight.pages.parts.positions.rotation import rotation
from headlight.pages.parts.positions.words import ROTARY_WORDS
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state.models import EXAMPLES
from headlight.viz.numbers import number_text
from tests.pages.apps import drawn, metrics, open_page, open_with
from tests.pages.pictures import canvas_pictures, heatmaps, plotly_heatmaps

SENTENCE = "My sister sold seven boats."


@pytest.fixture
def open_tab():
    def run(name, **parameters):
        scene = {"sentence": SENTENCE, "kind": "encoder", "layer": "1", "head": "4"}
        app = open_page("positions", **scene | parameters | {"positions_tab": name})
        assert not app.exception
        return app

    return run


def power(text):
    """The number of a text such as 1.2·10⁻⁷."""
    return float(unicodedata.normalize("NFKC", text).replace("−", "-").replace("·10", "e"))


def texts(app):
    """The text above each row of chips, by its label."""
    headers = [header for header, _ in canvas_pictures(app)]
    return {header["label"]: header["text"] for header in headers if "chips" in header}


def lists(parameters):
    """The parameters of an address, each as a list of its values."""
    return {
        name: [value] if isinstance(value, str) else value for name, value in parameters.items()
    }


def test_the_sinusoids_and_their_products_are_drawn(open_tab):
    app = open_tab("sinusoids")
    assert not app.exception
    (table, *_), (products, *_), (matrix, *_) = plotly_heatmaps(app)
    expected = sinusoids(128, 256).numpy()
    np.testing.assert_allclose(table, expected, atol=1e-6)
    np.testing.assert_allclose(products, expected @ expected.T, atol=1e-3)
    np.testing.assert_allclose(matrix, rotation(4, 256)[:32, :32], atol=1e-6)
    assert app.latex[0].value.count("10000^{\\,2i/256}") == 2
    assert power(metrics(app)["Largest error of the map over all 124 positions"]) < 1e-6


def test_width_base_length_and_offset_can_be_chosen(open_tab):
    app = open_tab("sinusoids")
    app.select_slider(key="positions_width").set_value(8).run()
    app.number_input(key="positions_base").set_value(100.0).run()
    app.slider(key="positions_count").set_value(512).run()
    app.slider(key="positions_offset").set_value(9).run()
    assert not app.exception
    (table, *_), _, (matrix, *_) = plotly_heatmaps(app)
    np.testing.assert_allclose(table, sinusoids(512, 8, 100.0), atol=1e-6)
    np.testing.assert_allclose(matrix, rotation(9, 8, 100.0), atol=1e-6)
    assert "100^{\\,2i/8}" in app.latex[0].value
    ((header, hands),) = [part for part in canvas_pictures(app) if "turns" in part[0]]
    assert header["pairs"] == [0, 1, 2, 3]
    assert header["positions"] == 512 - 9
    np.testing.assert_allclose(
        np.frombuffer(hands, "<f4").reshape(512, 8), sinusoids(512, 8, 100.0), atol=1e-6
    )
    assert power(metrics(app)["Largest error of the map over all 503 positions"]) < 1e-5


def test_what_is_chosen_about_sinusoids_is_in_the_link(open_tab):
    app = open_tab("sinusoids")
    app.select_slider(key="positions_width").set_value(8).run()
    app.number_input(key="positions_base").set_value(100.0).run()
    app.slider(key="positions_count").set_value(512).run()
    app.slider(key="positions_offset").set_value(200).run()
    app.multiselect[0].set_value([5, 2]).run()
    link = {name: value for name, (value,) in lists(app.query_params).items()}
    assert link["positions_dimensions"] == "5,2"
    link.pop("positions_tab", None)
    again = open_tab("sinusoids", **link)
    assert again.multiselect[0].value == [5, 2]
    ((header, _),) = [part for part in canvas_pictures(again) if "turns" in part[0]]
    assert (header["pairs"], header["positions"]) == ([0, 1, 2, 3], 512 - 200)
    assert "100^{\\,2i/8}" in again.latex[0].value


def test_an_offset_longer_than_half_the_table_gives_way(open_tab):
    app = open_tab("sinusoids", positions_count="64", positions_offset="200")
    assert app.slider(key="positions_offset").value == 32


def test_dimensions_that_a_width_does_not_have_are_not_drawn(open_tab):
    app = open_tab("sinusoids", positions_width="8", positions_dimensions="1,7,200")
    assert app.multiselect[0].value == [1, 7]
    app.multiselect[0].set_value([]).run()
    assert not app.exception
    assert app.multiselect[0].value == []
    assert "none" in app.query_params["positions_dimensions"]


def test_a_token_of_a_link_is_shown(open_tab):
    app = open_tab("token", positions_token_side="decoder", positions_token_decoder="3")
    assert app.segmented_control(key="positions_tab").value == "token"
    np.testing.assert_allclose(strips(app)["position"], sinusoids(3, 256)[2], atol=1e-6)


def test_the_learned_table_has_the_sinusoids_axes(open_tab):
    app = open_tab("learned")
    app.selectbox(key="positions_side").set_value("decoder").run()
    sinusoidal, _, learned, _ = plotly_heatmaps(app)
    table = load("en-fr-learned").model.decoder.embedding.positions.table.detach().numpy()
    np.testing.assert_allclose(learned[0], table[:64], atol=1e-6)
    np.testing.assert_allclose(sinusoidal[0], sinusoids(64, 128), atol=1e-6)
    limits = [json.loads(chart.proto.spec)["data"][0]["zmax"] for chart in app.get("plotly_chart")]
    assert limits[0] == limits[2]
    assert limits[1] == limits[3]


def test_tables_of_unit_rows_have_cosines(open_tab):
    app = open_tab("learned")
    app.toggle(key="positions_unit").set_value(True).run()
    for (values, _, name), rows in zip(plotly_heatmaps(app), [False, True] * 2, strict=True):
        if rows:
            assert name == "cosine"
            np.testing.assert_allclose(np.diagonal(values), 1, atol=1e-5)
        else:
            np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("encoder", "decoder"), [("off", "trained"), ("shifted", "off"), ("shuffled", "shuffled")]
)
def test_positions_of_each_side_are_changed(open_tab, shipped, encoder, decoder):
    app = open_tab("sentence")
    app.segmented_control(key="positions_encoder").set_value(encoder).run()
    app.segmented_control(key="positions_decoder").set_value(decoder).run()
    for shift in (box for box in app.number_input if box.key == "positions_shift"):
        shift.set_value(3).run()
    assert not app.exception
    translation = shipped.translate(SENTENCE)
    words = {
        "encoder": len(translation.source_tokens) - 1,
        "decoder": len(translation.target_tokens) - 1,
    }
    start = {"encoder": (), "decoder": (0,)}
    edits = {}
    sides = (("encoder", encoder), ("decoder", decoder))
    for side, mode in sides:
        mixed = (len(start[side]) + place for place in shuffled(words[side], 0))
        edits[side] = {
            "trained": PositionEdit(),
            "off": PositionEdit(off=True),
            "shifted": PositionEdit(shift=3),
            "shuffled": PositionEdit(order=(*start[side], *mixed)),
        }[mode]
    changed = shipped.translate(SENTENCE, edits=edits)
    said = {"off": "off", "shifted": "shifted by 3", "shuffled": "shuffled"}
    named = [f"positions of the {side} {said[mode]}" for side, mode in sides if mode in said]
    label = f"Translation with {' and '.join(named)}"
    expected = {"Translation as trained": translation.text, label: changed.text}
    if changed.target_tokens == translation.target_tokens:
        expected = {f"{label}, the same as trained": changed.text}
    assert texts(app) == expected
    before, after = (shipped.trace(SENTENCE, translation, edits=e) for e in ({}, edits))
    for (shown, _), trace in zip(heatmaps(app), (before, after), strict=True):
        expected = trace.attention[Site("encoder", 0)].weights[0, 3].numpy()
        np.testing.assert_allclose(shown, expected, atol=1e-5)
    scores = (trace_log_probabilities(trace).sum().item() for trace in (before, after))
    said = f"whole target: {' → '.join(map(number_text, scores))} nats ("
    assert any(said in text.value for text in app.text)


def test_shuffling_the_words_permutes_the_outputs_only_without_positions(open_tab, shipped):
    app = open_tab("words")
    ids = shipped.ids(shipped.read(SENTENCE))
    for seed in (0, 1):
        order = (*shuffled(ids.size(1) - 1, seed), ids.size(1) - 1)
        trained = permutation_differences(shipped.model, ids, order, PositionEdit())
        shown = metrics(app)
        assert shown["Largest difference with positions"] == f"{trained.max():.3f}"
        assert trained.max() > 1
        assert power(shown["Largest difference without positions"]) < 1e-4
        (header,) = [
            header
            for header, _ in canvas_pictures(app)
            if header.get("label") == "The words shuffled"
        ]
        tokens = shipped.read(SENTENCE)
        assert [chip["text"] for chip in header["chips"]] == [tokens[i].text for i in order]
        app.button[0].click().run()


def test_it_is_said_what_the_decoder_reads(open_tab):
    said = [caption.value for caption in open_tab("sentence").caption]
    assert any("maps can be compared" in words for words in said)


def test_one_word_has_no_other_order(open_tab):
    app = open_tab("words", sentence="Go")
    assert any("One word has no other order" in info.value for info in app.info)


def strips(app):
    """The vectors of the strips, by name."""
    ((header, body),) = [found for found in canvas_pictures(app) if "marked" in found[0]]
    names = [row["label"] for row in header["rows"]]
    return dict(zip(names, np.frombuffer(body, "<f4").reshape(len(names), -1), strict=True))


def test_the_strips_add_up_to_the_models_own_input(open_tab, shipped):
    app = open_tab("token")
    app.segmented_control(key="positions_token_side").set_value("decoder").run()
    app.selectbox(key="positions_token_decoder").set_value(2).run()
    shown = strips(app)
    assert list(shown) == ["embedding", "embedding, scaled", "position", "their sum"]
    embedding, scaled, position, total = shown.values()
    np.testing.assert_array_equal(scaled, embedding * 16)
    np.testing.assert_array_equal(total, scaled + position)
    np.testing.assert_allclose(position, sinusoids(3, 256)[2], atol=1e-6)
    ids = shipped.ids(shipped.trace(SENTENCE).target_tokens)
    states = shipped.model.decoder.embedding(ids)[0, 2].detach().numpy()
    np.testing.assert_allclose(total, states, atol=1e-6)


def test_beyond_training_the_learned_table_ends_and_the_sinusoid_goes_on(open_tab, shipped):
    app = open_tab("beyond")
    edit = PositionEdit(shift=256)
    moved = shipped.translate(SENTENCE, edits={"encoder": edit, "decoder": edit})
    assert texts(app) == {"Sinusoidal, the shipped model": moved.text}
    assert "the learned table ends at 255" in app.warning[0].value
    app.select_slider(key="positions_far").set_value(64).run()
    assert not app.warning
    assert len(texts(app)) == 2


@pytest.mark.parametrize("tab", ["sinusoids", "sentence", "words", "token", "beyond"])
def test_without_a_sentence_the_page_asks_for_one_and_shows_the_sinusoids(open_tab, tab):
    app = open_tab(tab, sentence="▁")
    assert app.text[0].value.endswith("type a sentence.")
    assert bool(plotly_heatmaps(app)) == (tab == "sinusoids")


def test_without_a_bert_the_page_leads_to_where_one_is_loaded(open_tab):
    shelf().loaded.clear()
    assert [link.proto.page for link in open_tab("learned").main.get("page_link")] == ["models"]


def test_the_table_of_a_loaded_bert_stands_beside_the_sinusoids(open_tab, bert_folder, bert):
    name = str(bert_folder)
    shelf().ask(name).join()
    app = open_tab("learned", model=f"transformers:{name}")
    app.selectbox(key="positions_side").set_value(f"loaded:{name}").run()
    assert not app.exception
    table = bert.model.positions.table.detach().numpy()
    results = [values for values, *_ in plotly_heatmaps(app)]
    assert results[0].shape == results[2].shape == table.shape
    np.testing.assert_allclose(results[0], sinusoids(*table.shape), atol=1e-6)
    np.testing.assert_allclose(results[2], table, atol=1e-6)
    np.testing.assert_allclose(results[3], table @ table.T, atol=1e-4)
    assert "does not say how often" in " ".join(caption.value for caption in app.caption)


@pytest.mark.parametrize("tab", ["sentence", "beyond"])
def test_a_model_whose_positions_cannot_be_moved_says_so(open_tab, bert_folder, tab):
    name = str(bert_folder)
    shelf().ask(name).join()
    app = open_tab(tab, model=f"transformers:{name}")
    assert any("positions of a BERT cannot be changed" in info.value for info in app.info)
    assert plotly_heatmaps(open_tab("sinusoids", model=f"transformers:{name}"))


def test_a_bert_adds_up_its_own_input(open_tab, bert_folder, bert):
    name = str(bert_folder)
    shelf().ask(name).join()
    shown = strips(open_tab("token", model=f"transformers:{name}", positions_token_encoder="3"))
    record = bert.trace(SENTENCE).embedding["encoder"]
    position = bert.model.positions.table[2].detach()
    np.testing.assert_allclose(shown["position"], position, atol=1e-6)
    np.testing.assert_allclose(shown["its norm"], record.states[0, 2], atol=1e-6)
    parts = shown["embedding"] + shown["segment"] + shown["position"]
    np.testing.assert_allclose(parts, shown["their sum"], atol=1e-6)


def own(folders, name, tab, **scene):
    """The page with a model of the transformers library, and what reads with it."""
    text = {"sentence": "I love my cat.", "kind": "decoder", "positions_tab": tab}
    app = open_with(folders[name], "positions", **text | scene)
    return app, shelf().get(str(folders[name])).reader


def test_a_gpt_2_shows_its_own_table(transformers_folders):
    app, reader = own(transformers_folders, "GPT-2", "learned")
    assert app.selectbox(key="positions_side").value.startswith("loaded:")
    shown = [values for values, *_ in plotly_heatmaps(app)]
    np.testing.assert_allclose(shown[2], reader.position_table, atol=1e-6)


def test_a_gpt_2_adds_up_its_own_input(transformers_folders):
    app, reader = own(transformers_folders, "GPT-2", "token", positions_token_decoder="3")
    shown = strips(app)
    assert list(shown) == ["embedding", "position", "their sum"]
    np.testing.assert_allclose(shown["position"], reader.position_table[2], atol=1e-6)
    np.testing.assert_array_equal(shown["their sum"], shown["embedding"] + shown["position"])


@pytest.mark.parametrize("name", ["GPT-2", "Llama"])
def test_the_page_opens_on_a_decoder_without_its_positions(transformers_folders, name):
    app, reader = own(transformers_folders, name, "sentence", layer="1", head="2")
    off = reader.trace("I love my cat.", edits={"decoder": PositionEdit(off=True)})
    (_, _), (after, _) = heatmaps(app)
    weights = off.attention[Site("decoder", 0)].weights[0, 1]
    np.testing.assert_allclose(np.nan_to_num(after), weights, atol=1e-5)
    said = " ".join(element.value for element in [*app.caption, *app.text])
    assert "ranslation" not in said
    assert "<start>" not in said


def test_a_gpt_2_says_which_models_shuffle_the_words(transformers_folders):
    app, _ = own(transformers_folders, "GPT-2", "words")
    assert any("an encoder and a decoder" in info.value for info in app.info)
    assert not metrics(app)


def test_the_text_of_a_gpt_2_is_shifted_far_out(transformers_folders):
    app, _ = own(transformers_folders, "GPT-2", "beyond")
    assert "save-shifts" in drawn(app)
    assert "the learned table ends at 39" in app.warning[0].value


def test_a_llama_has_no_positions_to_add(transformers_folders):
    app, _ = own(transformers_folders, "Llama", "token")
    assert any("turn queries and keys instead" in info.value for info in app.info)
    app, _ = own(transformers_folders, "Llama", "learned")
    assert any("No learned table of the open model" in info.value for info in app.info)


def test_a_link_names_the_table_of_a_bert(open_tab, bert_folder):
    name = str(bert_folder)
    shelf().ask(name).join()
    app = open_tab("learned", positions_side=f"loaded:{name}")
    assert app.selectbox(key="positions_side").value == f"loaded:{name}"
    shelf().loaded.clear()
    app = open_tab("learned", positions_side=f"loaded:{name}")
    assert app.selectbox(key="positions_side").value == "encoder"


def test_a_query_and_a_key_of_a_llama_are_turned_in_the_numbers_of_its_run(transformers_folders):
    place = {"kind": "decoder", "layer": "2", "head": "3", "query": "4", "key": "2"}
    scene = {"positions_tab": "rotary", "sentence": "I love my cat.", **place}
    app = open_with(transformers_folders["Llama"], "positions", **scene)
    reader = shelf().get(str(transformers_folders["Llama"])).reader
    record = reader.trace("I love my cat.").attention[Site("decoder", 1)]
    ((_header, body),) = [found for found in canvas_pictures(app) if "marked" in found[0]]
    values = np.frombuffer(body, np.float32).reshape(5, -1)
    np.testing.assert_allclose(values[1], record.query[0, 2, 3], atol=1e-6)
    np.testing.assert_allclose(values[3], record.key[0, 2, 1], atol=1e-6)
    assert values[4].sum() * record.scale == pytest.approx(record.scores[0, 2, 3, 1].item(), 1e-4)
    assert metrics(app)["Score at their own distance, 2"] == f"{record.scores[0, 2, 3, 1]:.3f}"
    ((clocks, hands),) = [found for found in canvas_pictures(app) if "turns" in found[0]]
    assert clocks["names"] == ["key", "query"]
    key, query = np.frombuffer(hands, "<f4").reshape(2, -1, len(clocks["pairs"]), 2)
    angle = np.arctan2(record.query[0, 2, 3, 2], record.query[0, 2, 3, 0])  # pair 0, of 2 in all
    np.testing.assert_allclose(query[3, 0], [np.sin(angle), np.cos(angle)], atol=1e-5)
    assert len(key) == len(query) == 2 + 64


def test_a_model_that_turns_nothing_says_so(open_tab):
    app = open_tab("rotary")
    assert [info.value for info in app.info] == [ROTARY_WORDS["added"]]
    (link,) = app.main.get("page_link")
    assert link.proto.label == "Open a model that does"
    assert not [box for box in app.main.get("selectbox") if box.key in ("layer", "head")]


def test_a_shifted_llama_writes_the_same(transformers_folders):
    moves = {"positions_only": "shifted", "positions_shift": "9"}
    scene = {"positions_tab": "sentence", "sentence": "I love my cat.", "kind": "decoder", **moves}
    app = open_with(transformers_folders["Llama"], "positions", **scene)
    assert "Continuation with positions of the decoder shifted by 9, the same as trained" in texts(
        app
    )
    (before, _), (after, _) = heatmaps(app)
    np.testing.assert_allclose(after, before, atol=1e-5)


def moved(reader, sentence, site, head):
    """The share of a head's attention that other keys gain without the encoder's positions."""
    writing = reader.translate(sentence)
    off = {"encoder": PositionEdit(off=True)}
    before, after = (
        reader.trace(sentence, writing, edits=edits).attention[site].weights[0, head]
        for edits in ({}, off)
    )
    return (after - before).clamp(min=0).sum(dim=-1).mean().item()


def shown_head(app):
    layer, head = app.segmented_control(key="layer"), app.selectbox(key="head")
    return app.segmented_control(key="kind").value, layer.value, head.value


def said_of_head(app):
    return next(text.value for text in app.text if "moves to other tokens" in text.value)


def test_a_visit_without_a_head_opens_on_the_one_that_changes_most(shipped):
    app = open_page("positions")
    assert not app.exception
    assert shown_head(app) == ("encoder", 1, 7)
    share = moved(shipped, EXAMPLES[0], Site("encoder", 1), 7)
    assert f"This head changes most: {share:.2f} of" in said_of_head(app)
    assert not [button for button in app.button if button.key == "see-head"]
    app.segmented_control(key="positions_encoder").set_value("trained").run()
    assert shown_head(app) == ("encoder", 1, 7)


def test_a_link_to_a_kind_opens_on_a_head_of_that_kind():
    kind, *_ = shown_head(open_page("positions", kind="decoder", positions_decoder="off"))
    assert kind == "decoder"


def test_a_chosen_head_that_changes_little_says_so_and_leads_to_the_one_that_changes_most(shipped):
    app = open_page("positions", kind="encoder", layer="2", head="2")
    assert shown_head(app) == ("encoder", 1, 1)
    share = moved(shipped, EXAMPLES[0], Site("encoder", 1), 1)
    assert "depends little on positions" in said_of_head(app)
    assert f"only {share:.2f} of its attention" in said_of_head(app)
    assert "Encoder, layer 2, head 8 changes most" in said_of_head(app)
    app.button(key="see-head").click().run()
    assert shown_head(app) == ("encoder", 1, 7)


def test_where_nothing_moves_nothing_is_said_of_a_head(transformers_folders):
    for mode in ("trained", "shifted"):  # a shift changes nothing but the rounding
        app, _ = own(transformers_folders, "Llama", "sentence", positions_only=mode)
        assert heatmaps(app)
        assert not any("moves to other tokens" in text.value for text in app.text)


def test_of_a_mean_of_heads_nothing_is_said():
    app = open_page("positions", kind="cross", layer="1", head="mean")
    assert not app.exception
    assert not any("moves to other tokens" in text.value for text in app.text)
