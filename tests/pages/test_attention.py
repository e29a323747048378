import numpy as np
import pytest

from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.model.insight.linking import LEAST
from headlight.model.library.pieces import Piece, merge_words
from headlight.model.transformer.trace import Site
from headlight.pages.parts.attention.leading import LEADS_AS, NONE_LEADS, NOTHING, said_of
from headlight.pages.shared.state.choices import HEAD, LAYER
from headlight.pages.shared.state.models import EXAMPLES
from tests.pages.apps import address, go_to, open_page, open_with
from tests.pages.pictures import canvas_pictures, heatmaps, mounted
from tests.viz.unpacking import split

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"


@pytest.fixture
def app():
    return open_page(kind="cross")


def said(app):
    """The sentences of the page, and what is below them."""
    return " ".join(element.value for element in (*app.text, *app.caption))


def headers(app):
    """The headers of the page's canvas pictures, by what they show."""
    results = {}
    for header, _ in canvas_pictures(app):
        if "label" in header:
            results[header["label"].split(",")[0]] = header
        else:
            results["grid" if "rows" in header else "lines"] = header
    return results


def lines(app):
    """The header of the picture of lines; None if there is none."""
    return next((header for header, _ in canvas_pictures(app) if "lit" in header), None)


def test_the_first_page_shows_the_translation_of_the_first_example(app, shipped):
    assert not app.exception
    result = shipped.translate(EXAMPLES[0])
    shown = headers(app)
    assert shown["French"]["text"] == result.text
    assert [chip["text"] for chip in shown["English"]["chips"]] == [
        token.text for token in result.source_tokens
    ]


def test_the_heatmap_shows_the_trace_of_the_translation(app, shipped):
    app.text_input(key="sentence").set_value("My sister sold seven boats.").run()
    app.segmented_control(key="kind").set_value("cross").run()
    app.segmented_control(key="layer").set_value(2).run()
    app.selectbox(key="head").set_value(4).run()
    translation = shipped.translate("My sister sold seven boats.")
    trace = shipped.trace("My sister sold seven boats.", translation)
    expected = trace.attention[Site("cross", 2)].weights[0, 4].numpy()
    np.testing.assert_allclose(heatmaps(app)[0][0], expected, atol=1e-5)
    header = heatmaps(app)[0][1]
    assert header["columns"] == [token.text for token in trace.source_tokens]
    written = [token.text for token in translation.target_tokens]
    read = ["<start>", *written]
    assert header["rows"] == [f"{one} → {next}" for one, next in zip(read, written, strict=False)]
    assert header["rows"][-1] == ". → <end>"


def test_changes_are_shown_unless_the_model_is_wanted_as_trained(shipped):
    sentence, scene = "I love my cat.", {"kind": "encoder", "layer": "2", "head": "1"}
    edits = Edits(gates={("encoder", 0, head): 0.0 for head in range(8)})
    sites = edits.at_sites(shipped.shape, 70)
    app = open_page(sentence=sentence, edits=write_edits(edits), **scene)
    changed = shipped.translate(sentence, edits=sites)
    assert headers(app)["French"]["text"] == changed.text
    trace = shipped.trace(sentence, changed.text, edits=sites)
    np.testing.assert_allclose(
        heatmaps(app)[0][0], trace.attention[Site("encoder", 1)].weights[0, 0], atol=1e-5
    )
    app.button(key="ignore-changes").click().run()
    assert headers(app)["French"]["text"] == shipped.translate(sentence).text
    usual = shipped.trace(sentence).attention[Site("encoder", 1)].weights[0, 0]
    np.testing.assert_allclose(heatmaps(app)[0][0], usual, atol=1e-5)
    assert not np.allclose(usual, trace.attention[Site("encoder", 1)].weights[0, 0], atol=1e-3)


def test_an_example_is_one_click_away_and_can_be_clicked_again(app, shipped):
    for _ in range(2):
        app.menu_button(key="example").click(EXAMPLES[1]).run()
        assert app.text_input(key="sentence").value == EXAMPLES[1]
        assert headers(app)["French"]["text"] == shipped.translate(EXAMPLES[1]).text
        app.text_input(key="sentence").set_value("Go.").run()


def test_choosing_lines_replaces_the_heatmap(app):
    app.segmented_control(key="picture").set_value("lines").run()
    assert not heatmaps(app)
    assert lines(app)


def test_blocked_cells_of_the_decoder_are_crossed_out(app):
    app.segmented_control(key="kind").set_value("decoder").run()
    values = heatmaps(app)[0][0]
    later = np.triu(np.ones_like(values, dtype=bool), k=1)
    np.testing.assert_array_equal(np.isnan(values), later)


def test_the_cell_that_the_lead_names_is_framed(app):
    app.segmented_control(key="picture").set_value("heatmap").run()
    values, header = heatmaps(app)[0]
    row, column = header["framed"]
    assert values[row].argmax() == column
    (said,) = (text.value for text in app.text if " of its attention to " in text.value)
    assert f"“{header['rows'][row]}” gives {values[row, column]:.3f}" in said


def test_brightening_scales_the_colours_and_leaves_the_numbers(app):
    app.segmented_control(key="kind").set_value("encoder").run()
    before, scale = heatmaps(app)[0]
    assert scale["limit"] == 1
    assert any("bright is 1." in caption.value for caption in app.caption)
    app.toggle(key="own_scale").set_value(True).run()
    assert any("bright is its own largest " in caption.value for caption in app.caption)
    after, scale = heatmaps(app)[0]
    np.testing.assert_array_equal(before, after)
    assert scale["limit"] == pytest.approx(after.max())


def open_bert(folder, **parameters):
    """The page on two sentences as a BERT reads them."""
    texts = {"sentence": FIRST, "second": SECOND, "kind": "encoder", "layer": "1"}
    return open_with(folder, **texts | parameters)


def drawn(app):
    """The values of the heatmap, and the tokens of its rows and columns."""
    values, header = heatmaps(app)[0]
    return values, header["rows"], header["columns"]


def chips(app):
    return next(header["chips"] for header, _ in canvas_pictures(app) if "chips" in header)


def bars(app):
    """The answers that are drawn, of each question."""
    return [header["tokens"] for header, _ in canvas_pictures(app) if "runs" in header]


def test_a_pair_of_sentences_is_read_in_two_segments(bert_folder, bert):
    app = open_bert(bert_folder, layer="2", head="3")
    trace = bert.trace(FIRST, second=SECOND)
    tokens = [piece.text for piece in trace.source_tokens]
    values, rows, columns = drawn(app)
    np.testing.assert_allclose(values, trace.attention[Site("encoder", 1)].weights[0, 2], atol=1e-6)
    assert rows == columns == tokens
    assert [chip["text"] for chip in chips(app)] == tokens
    assert [chip["segment"] for chip in chips(app)] == [p.segment for p in trace.source_tokens]


@pytest.mark.parametrize(
    ("layer", "head"), [("2", "mean"), ("mean", "4"), ("max", "max"), ("mean", "max")]
)
def test_means_and_maxima_are_taken_over_heads_and_layers(layer, head, bert_folder, bert):
    app = open_bert(bert_folder, layer=layer, head=head)
    weights = bert.trace(FIRST, second=SECOND).weights("encoder").numpy()  # (layers, H, Q, K)
    over = {"mean": np.mean, "max": np.max}
    heads = over[head](weights, axis=1) if head in over else weights[:, int(head) - 1]
    expected = over[layer](heads, axis=0) if layer in over else heads[int(layer) - 1]
    np.testing.assert_allclose(drawn(app)[0], expected, atol=1e-6)


def test_filters_choose_rows_and_columns_with_their_tokens(bert_folder, bert):
    app = open_bert(bert_folder, between="first to second", special="hidden", layer="3")
    weights = bert.trace(FIRST, second=SECOND).attention[Site("encoder", 2)].weights[0].numpy()
    values, rows, columns = drawn(app)
    assert rows == ["the", "cat", "was", "play", "##ing", "."]
    assert columns == ["un", "##believ", "##able", "dog", "##s", "!"]
    np.testing.assert_allclose(values, weights.mean(0)[1:7, 8:14], atol=1e-6)
    assert (values.sum(-1) < 0.999).all()
    app.segmented_control(key="rows").set_value("scaled").run()
    assert any("divided by the sum" in caption.value for caption in app.caption)
    scaled = weights[:, 1:7, 8:14] / weights[:, 1:7, 8:14].sum(-1, keepdims=True)
    np.testing.assert_allclose(drawn(app)[0], scaled.mean(0), atol=1e-6)


def test_pieces_merge_to_words_by_the_rule_on_screen(bert_folder, bert):
    app = open_bert(bert_folder, units="words", head="2")
    trace = bert.trace(FIRST, second=SECOND)
    values, rows, columns = drawn(app)
    assert rows == columns
    assert rows[4] == "playing"
    words = [piece.word for piece in trace.source_tokens]
    expected = merge_words(trace.attention[Site("encoder", 0)].weights[0, 1].numpy(), words)
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert any("sum over its pieces" in caption.value for caption in app.caption)


def test_a_hidden_word_is_predicted_in_the_run_that_is_drawn(bert_folder, bert):
    app = open_bert(bert_folder, head="1", masked="4,5")
    trace = bert.trace(FIRST, second=SECOND, masked=[4, 5])
    assert [chip["kind"] for chip in chips(app)][4:6] == ["mask", "mask"]
    weights = trace.attention[Site("encoder", 0)].weights[0, 0]
    np.testing.assert_allclose(drawn(app)[0], weights, atol=1e-6)
    predicted = bert.predict(FIRST, SECOND, masked=[4, 5], top=8)
    assert bars(app) == [[item.text for item in predicted[place]] for place in (4, 5)]
    likelihoods = trace.logits[0].softmax(dim=-1)
    written = bert.read(FIRST, SECOND)
    for place, likelihood in zip((4, 5), likelihoods, strict=True):
        itself = f"The hidden word “{written[place].text}”: {likelihood[written[place].id]:.3f}"
        assert any(text.value.startswith(itself) for text in app.text)
    assert app.query_params["masked"] == "4,5"
    app.text_input(key="sentence").set_value("a dog").run()
    assert app.session_state["masked"] == ""


def test_places_that_a_model_does_not_have_are_brought_back(bert_folder):
    app = open_bert(bert_folder, layer="99", head="50", masked="0,7,300")
    assert drawn(app)[0].shape == (15, 15)
    assert not bars(app)


def test_the_class_that_a_model_chooses_is_drawn(transformers_folders):
    app = open_with(transformers_folders["classes"], sentence="I love my cat.")
    assert [sorted(answers) for answers in bars(app)] == [["glad", "sad", "so so"]]


def test_the_page_opens_on_it_looking_at_the_dog(shipped):
    app = open_page()
    weights = shipped.trace(EXAMPLES[0]).weights("encoder").numpy()  # (layers, H, Q, K)
    tokens = [token.text for token in shipped.trace(EXAMPLES[0]).source_tokens]
    query, key = tokens.index("it"), tokens.index("dog")
    layer, head = np.argwhere(weights[..., query, key] == weights[..., query, key].max())[0]
    assert address(app) == {
        "v": "2", "kind": "encoder", "head": str(head + 1),
        "picture": "lines", "lit": f"q{query + 1}",
    } | ({"layer": str(layer + 1)} if layer != LAYER.default else {})  # fmt: skip
    assert lines(app)["lit"] == ["query", query]
    share = f"{weights[layer, head, query, key]:.3f}"
    words = f"head {head + 1}: “it” gives {share} of its attention to “dog”."
    assert any(text.value.endswith(words) for text in app.text)


def test_the_head_that_the_page_opens_on_is_no_choice_of_a_decoding():
    app = open_page()
    opened = app.session_state["layer"], app.session_state["head"]
    assert opened != (LAYER.default, HEAD.default)
    app.query_params.clear()
    go_to(app, "decoding")
    assert (app.session_state["layer"], app.session_state["head"]) == (LAYER.default, HEAD.default)
    app.query_params.clear()
    go_to(app, "attention")
    assert (app.session_state["layer"], app.session_state["head"]) == opened
    app.selectbox(key="head").set_value(4).run()
    app.query_params.clear()
    go_to(app, "decoding")
    assert (app.session_state["layer"], app.session_state["head"]) == (opened[0], 4)


@pytest.mark.parametrize("link", [{"sentence": "Go."}, {"v": "2", "head": "3"}, {"layer": "1"}])
def test_a_link_says_what_the_page_opens_on(link):
    app = open_page(**link)
    assert app.segmented_control(key="kind").value == "cross"
    assert app.segmented_control(key="picture").value == "heatmap"
    assert not lines(app)


def test_the_page_opens_so_once_and_choices_win(shipped):
    app = open_page()
    app.segmented_control(key="picture").set_value("heatmap").run()
    app.segmented_control(key="kind").set_value("cross").run()
    app.segmented_control(key="layer").set_value(1).run()
    app.selectbox(key="head").set_value("mean").run()
    assert address(app) == {"model": "en-fr"}
    app.query_params.clear()
    go_to(app, "heads")
    app.query_params.clear()
    go_to(app, "attention")
    assert app.segmented_control(key="kind").value == "cross"
    assert not lines(app)


def test_another_text_leads_with_its_pronoun_in_whole_words(shipped):
    app, sentence = open_page(), "The boy saw the rabbit because it was big."
    app.text_input(key="sentence").set_value(sentence).run()
    trace = shipped.trace(sentence)
    tokens = [token.text for token in trace.source_tokens]
    assert lines(app)["lit"] == ["query", tokens.index("it")]
    weights = trace.weights("encoder").numpy()[
        app.session_state["layer"], app.session_state["head"]
    ]
    first = tokens.index("r")
    assert tokens[first : first + 3] == ["r", "ab", "bit"]
    share = weights[tokens.index("it"), first : first + 3].sum()
    words = f"“it” gives {share:.3f} of its attention to “rabbit”, its 3 pieces together."
    assert words in said(app)
    assert LEADS_AS["pronoun"] in said(app)


def test_a_text_in_which_nothing_stands_out_says_so_and_offers_its_pronoun(shipped):
    sentence = "The cup fell from the table, but it did not break."
    app = open_page(sentence=sentence, kind="encoder", layer="2", head="2", picture="lines")
    weights = shipped.trace(sentence).attention[Site("encoder", 1)].weights[0, 1].numpy()
    assert lines(app)["lit"] == ["key", int(weights.mean(axis=0).argmax())]
    assert f"{NOTHING}: “" in said(app)
    assert NONE_LEADS.format(word="pronoun", least=LEAST) in said(app)


def test_the_head_that_links_a_token_most_clearly_is_one_click_away(shipped):
    sentence = "I bought a lamp. It does not work."
    place = {"sentence": sentence, "kind": "encoder", "layer": "5", "head": "1"}
    trace = shipped.trace(sentence)
    weights = trace.weights("encoder").numpy()  # (layers, H, Q, K)
    tokens = [token.text for token in trace.source_tokens]
    for query, keys in (("lamp", ["bought", "work"]), ("work", ["bought", "lamp"])):
        at = tokens.index(query)
        app = open_page(**place, picture="lines", lit=f"q{at + 1}")
        columns = [tokens.index(key) for key in keys]
        block = weights[:, :, at, columns]
        layer, head, key = np.unravel_index(block.argmax(), block.shape)
        name = f"layer {layer + 1}, head {head + 1}"
        share = f"{block.max():.2f}"
        clearest = f"Clearest content word for “{query}”, neighbours left out, of all heads"
        assert f"{clearest}: {name} → “{keys[key]}” ({share})" in said(app)
        app.button(key="see-head").click().run()
        assert (app.session_state["layer"], app.session_state["head"]) == (layer, head)
        assert lines(app)["lit"] == ["query", at]
        assert "of all heads: this head → " in said(app)


def test_the_head_with_the_clearest_look_at_a_token_is_one_click_away(shipped):
    sentence = "I bought a lamp. It does not work."
    trace = shipped.trace(sentence)
    weights = trace.weights("encoder").numpy()  # (layers, H, Q, K)
    tokens = [token.text for token in trace.source_tokens]
    at, queries = tokens.index("lamp"), ["bought", "work"]
    block = weights[..., [tokens.index(query) for query in queries], at]
    layer, head, query = np.unravel_index(block.argmax(), block.shape)
    place = {"sentence": sentence, "kind": "encoder", "layer": "5", "head": "1"}
    app = open_page(**place, picture="lines", lit=f"k{at + 1}")
    name = f"layer {layer + 1}, head {head + 1}"
    share = f"{block.max():.2f}"
    clearest = "Clearest content word for “lamp”, neighbours left out, of all heads"
    assert f"{clearest}: {name} ← “{queries[query]}” ({share})" in said(app)
    app.button(key="see-head").click().run()
    assert (app.session_state["layer"], app.session_state["head"]) == (layer, head)
    assert lines(app)["lit"] == ["key", at]
    assert "of all heads: this head ← " in said(app)


@pytest.mark.parametrize("name", ["GPT-2", "DistilBERT", "Marian"])
def test_a_model_of_an_unknown_language_never_speaks_of_pronouns(transformers_folders, name):
    app = open_with(transformers_folders[name], sentence=EXAMPLES[0], picture="lines")
    assert "pronoun" not in said(app)
    assert "content word" not in said(app)
    assert "Clearest word for “" in said(app)


def test_a_text_in_another_language_has_no_pronoun_that_leads():
    scene = {"kind": "encoder", "layer": "2", "head": "2", "picture": "lines"}
    app = open_page(sentence="Der Hund aß das Fleisch, weil er it hungrig war.", **scene)
    assert "pronoun" not in said(app)


@pytest.mark.parametrize(("layer", "name"), [("2", "head {}"), ("max", "layer {}, head {}")])
def test_a_mean_says_which_head_a_click_opens(layer, name, shipped):
    app = open_page(sentence="I love my cat.", kind="encoder", layer=layer, head="mean")
    ((_, header),) = heatmaps(app)
    weights = shipped.trace("I love my cat.").weights("encoder").numpy()
    chosen = weights if layer == "max" else weights[1:2]
    _, picture, _ = next(each for each in mounted(app) if each[0] == "headlight_heatmap")
    _, data = split(picture)
    shape = 3, len(header["rows"]), len(header["columns"])
    _, largest, which = np.frombuffer(data, "<f4").reshape(shape)
    np.testing.assert_allclose(largest, chosen.max(axis=(0, 1)), atol=1e-6)
    flat = chosen.reshape(-1, *chosen.shape[2:])
    np.testing.assert_array_equal(which, flat.argmax(axis=0))
    assert header["behind"][0] == name.format(1, 1)
    assert header["name"] == ("max of mean" if layer == "max" else "mean")


def test_heads_that_are_off_look_so_in_the_grid():
    edits = Edits(gates={("cross", 0, 3): 0, ("cross", 1, 2): 0.5, ("encoder", 1, 1): 0})
    app = open_page(kind="cross", edits=write_edits(edits))
    (grid,) = (header for header, _ in canvas_pictures(app) if "strongest" in header)
    assert grid["off"] == [3]


@pytest.mark.parametrize(("as_trained", "said"), [("off", True), ("on", False)])
def test_the_words_on_a_head_say_that_it_is_switched_off(as_trained, said):
    place = {"kind": "cross", "layer": "1", "head": "4", "as_trained": as_trained}
    app = open_page(edits=write_edits(Edits(gates={("cross", 0, 3): 0})), **place)
    (lead,) = (text.value for text in app.text if " of its attention to " in text.value)
    assert ("The head is off, so this is not used." in lead) == said


def test_a_mean_over_heads_that_are_all_off_is_said_not_to_be_used(shipped):
    scene = {"kind": "cross", "layer": "2", "head": "mean", "edits": "gate.cross.2.1-8.0"}
    said = [text.value for text in open_page("attention", **scene).text]
    assert any(words.endswith("The heads are off, so this is not used.") for words in said)
    scene["edits"] = "gate.cross.2.1-7.0"
    said = [text.value for text in open_page("attention", **scene).text]
    assert not any("not used" in words for words in said)


def test_what_is_said_tells_tokens_apart_and_joins_pieces():
    weights = np.array([[0.2, 0.1, 0.3, 0.4], [0.1, 0.35, 0.35, 0.2]])
    texts = ["the", "cat", "s", "the"]
    line = [Piece(0, text, 0, 0, word) for text, word in zip(texts, (0, 1, 1, 2), strict=True)]
    pieces, labels = (line[:2], line), (["a", "b"], texts)
    said = said_of(("query", 0), weights, labels, pieces)
    assert said == "“a” gives 0.400 of its attention to “cats”, its 2 pieces together."
    said = said_of(("query", 1), weights[:, [0, 1, 3, 2]], (texts, texts), (line, line))
    assert said.startswith("“cat” of “cats” gives 0.550")
    weights[0] = 0.1, 0.1, 0.1, 0.7
    said = said_of(("query", 0), weights, labels, pieces)
    assert said == "“a” gives 0.700 of its attention to “the” (token 4)."
    assert said_of(("key", 1), weights, labels, pieces).startswith("“cat” of “cats” gets 0.225")


@pytest.mark.parametrize(
    ("kind", "edits", "usual"),
    [
        ("encoder", Edits(), True),
        ("decoder", Edits(), True),
        ("decoder", Edits(gates={("decoder", 1, 0): 0}), True),
        ("decoder", Edits(off=["look-ahead"]), False),
        ("encoder", Edits(masks={("window", "encoder", "all"): (1,)}), False),
        ("encoder", Edits(masks={("window", "encoder", 0): (1,)}), True),
        ("encoder", Edits(cells=[CellEdit("encoder", 2, 1, False, layer=1, head=3)]), False),
        ("encoder", Edits(masks={("distance", "encoder", "all"): (1,)}), False),
    ],
)
@pytest.mark.parametrize("layer", ["2", "mean"])
def test_what_a_head_may_see_is_said_as_its_mask_is(kind, edits, usual, layer):
    app = open_page(sentence="I love my cat.", kind=kind, layer=layer, edits=write_edits(edits))
    usual &= layer != "mean" or not edits.masks
    said = [caption.value for caption in app.caption]
    own = {"encoder": "looks at all English tokens", "decoder": "Later tokens are blocked"}[kind]
    assert any(own in words for words in said) == usual
    assert any("that its mask leaves open" in words for words in said) != usual
    (formula,) = [block.value for block in app.latex]
    assert ("mask" in formula) != usual
    assert ("later" in formula) == (usual and kind == "decoder")
