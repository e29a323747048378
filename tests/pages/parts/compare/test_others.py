"""Models of the transformers library side by side: what is drawn is of their own runs."""

from urllib.parse import urlencode

import numpy as np
import pytest

from headlight.model.edits import Edits
from headlight.model.insight.scoring import log_probabilities
from headlight.model.library.loading import load_bert
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.questions import Question
from headlight.model.transformer.trace import Site
from headlight.model.translator import load
from headlight.pages.shared.runs import run
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.show import answers, likeliest
from headlight.pages.shared.state.choices import MODEL
from headlight.pages.shared.state.models import EXAMPLES, LIBRARY
from headlight.viz.tokens import WRITES
from tests.matrix import first_of
from tests.pages.apps import button, go_to, loaded, open_page, open_with
from tests.pages.test_compare import WIDE, click, maps, strips, texts, told, widget

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"
CAT = "I love my cat."
EDITS = Edits(gates={("encoder", 0, 1): 0.0})


@pytest.fixture
def drawn(monkeypatch):
    """The bars of probabilities that are drawn: of each run by its label, and their tokens."""
    match, chart = [], likeliest.probability_bars
    for module in (answers, likeliest):
        monkeypatch.setattr(
            module,
            "probability_bars",
            lambda *parts, **more: match.append(parts) or chart(*parts, **more),
        )
    return match


def compared(folder, **parameters):
    """The page in a session that has visited another page with a model in memory."""
    scene = {"sentence": FIRST, "second": SECOND, "kind": "encoder"} | parameters
    app = open_with(folder, **scene)
    app.query_params.clear()
    go_to(app, "compare")
    assert not app.exception
    return app


def take(app, name):
    return click(app, f"Show on {name} what the other pages show")


def choose_model(app, name, folder):
    widget(app.selectbox, f"side_{name}_model").set_value(LIBRARY + str(folder)).run()
    assert not app.exception
    return app


def expect(app, side, weights, rows, columns=None):
    header, numbers = maps(app)
    np.testing.assert_allclose(numbers[side], weights, atol=1e-5)
    expected = texts(rows), texts(rows if columns is None else columns)
    queries, keys = header["tokens"][side]
    assert ([label.partition(WRITES)[0] for label in queries], keys) == expected


def captions(app):
    return " ".join(caption.value for caption in app.caption)


def test_the_page_opens_on_the_two_sentences_with_it_in_the_chosen_model(bert_folder, bert):
    app = compared(bert_folder, layer="2", head="3")
    for side, sentence in enumerate((EXAMPLES[1], WIDE)):
        trace = bert.trace(sentence)
        weights = trace.attention[Site("encoder", 1)].weights[0, 2]
        expect(app, side, weights, trace.source_tokens)
    assert "Hide a word of both texts" in captions(app)
    assert "The two models have no output in common" not in captions(app)
    assert "decoder" not in told(app)


def test_what_is_chosen_instead_stays_on_a_later_visit(bert_folder):
    app = click(compared(bert_folder), "It: tired or wide")
    go_to(go_to(app, "heads"), "compare")
    assert widget(app.selectbox, "side_a_model").value == MODEL.default
    app = click(app, "It, in the chosen model")
    assert widget(app.selectbox, "side_a_model").value == LIBRARY + str(bert_folder)


@pytest.mark.parametrize(
    ("layer", "head", "summary"),
    [
        ("1", "mean", lambda weights: weights[0].mean(axis=0)),
        ("mean", "4", lambda weights: weights[:, 3].mean(axis=0)),
        ("max", "mean", lambda weights: weights.mean(axis=1).max(axis=0)),
    ],
)
@pytest.mark.parametrize("in_full", first_of([run.IN_FULL, 0]))
def test_a_side_shows_a_mean_or_a_maximum(
    bert_folder, bert, layer, head, summary, in_full, monkeypatch
):
    monkeypatch.setattr(run, "IN_FULL", in_full)
    app = take(compared(bert_folder, layer=layer, head=head), "B")
    trace = bert.trace(FIRST, second=SECOND)
    _, numbers = maps(app)
    # In a large model, layers that are shown together are recorded in bytes.
    error = 1 / 255 if in_full == 0 and layer in ("mean", "max") else 1e-5
    np.testing.assert_allclose(numbers[1], summary(trace.weights("encoder").numpy()), atol=error)


def test_hidden_words_and_switched_heads_before_and_after(bert_folder, bert, drawn):
    app = compared(bert_folder, masked="2", layer="2", head="1")
    app.session_state["histories"] = {LIBRARY + str(bert_folder): [Edits(), EDITS]}
    take(take(app.run(), "A"), "B")
    widget(app.toggle, "side_a_changed").set_value(False).run()
    changes = EDITS.at_sites(bert.shape, 32)
    traces = [bert.trace(FIRST, second=SECOND, masked=[2], edits=each) for each in ({}, changes)]
    for side, trace in enumerate(traces):
        weights = trace.attention[Site("encoder", 1)].weights[0, 0]
        expect(app, side, weights, trace.source_tokens)
    header, _ = maps(app)
    assert ["with changes" in title for title in header["titles"]] == [False, True]
    assert "Hidden: the tokens at 3" in told(app)
    bars, words = drawn[-1]
    for label, trace in zip("AB", traces, strict=True):
        likely = {
            bert.tokens.piece(i).text: p
            for i, p in enumerate(trace.logits[0, 0].softmax(-1).tolist())
        }
        np.testing.assert_allclose(bars[label], [likely[word] for word in words], atol=1e-5)
        assert max(likely, key=likely.get) in words
    widget(app.text_input, "side_b_sentence").set_value("dogs!").run()
    trace = bert.trace("dogs!", second=SECOND, edits=changes)
    weights = trace.attention[Site("encoder", 1)].weights[0, 0]
    expect(app, 1, weights, trace.source_tokens)


def test_a_sentence_stays_from_one_model_to_the_other_and_back(bert_folder, bert):
    app = click(compared(bert_folder, second=""), "It: tired or wide")
    choose_model(app, "a", bert_folder)
    trace = bert.trace(EXAMPLES[1])
    layer = trace.attention[Site("encoder", 1)].weights[0, 1]
    expect(app, 0, layer, trace.source_tokens)
    widget(app.text_input, "side_a_sentence").set_value(CAT).run()
    widget(app.selectbox, "side_a_model").set_value("en-fr-learned").run()
    assert widget(app.text_input, "side_a_sentence").value == CAT
    trace = load("en-fr-learned").trace(CAT)
    expect(app, 0, trace.attention[Site("encoder", 1)].weights[0, 1], trace.source_tokens)


def test_a_decoder_reads_what_it_is_given(transformers_folders):
    folder = transformers_folders["T5"]
    app = take(compared(folder, kind="cross", sentence=CAT, second="", layer="1"), "B")
    model = load_transformers_reader(folder)
    widget(app.text_input, "side_b_target").set_value("J'aime mon chat.").run()
    trace = model.trace(CAT, "J'aime mon chat.")
    mean = trace.attention[Site("cross", 0)].weights[0].mean(0)
    expect(app, 1, mean, trace.target_tokens, trace.source_tokens)
    assert f"B's decoder reads: {' '.join(texts(trace.target_tokens))}" in told(app)


def test_a_translator_beside_one_of_the_library_reads_one_text(transformers_folders, shipped):
    folder = transformers_folders["Marian"]
    app = take(open_with(folder, "compare", sentence=CAT, kind="cross", layer="2"), "B")
    widget(app.text_input, "side_a_sentence").set_value(CAT).run()
    text = shipped.translate(CAT).text
    trace = load_transformers_reader(folder).trace(CAT, text)
    mean = trace.attention[Site("cross", 1)].weights[0].mean(0)
    expect(app, 1, mean, trace.target_tokens, trace.source_tokens)
    assert strips(app) == [text]  # the other may be no translation
    app.toggle(key="compare_own").set_value(True).run()
    own = load_transformers_reader(folder).trace(CAT)
    mean = own.attention[Site("cross", 1)].weights[0].mean(0)
    expect(app, 1, mean, own.target_tokens, own.source_tokens)


def test_two_texts_in_a_model_that_goes_on_with_them(transformers_folders, drawn):
    folder = transformers_folders["GPT-2"]
    app = compared(folder, sentence="I love", second="", kind="decoder", layer="2", head="3")
    click(app, "Two sentences")
    widget(app.text_input, "side_b_sentence").set_value("We leave today").run()
    assert not app.exception
    model = load_transformers_reader(folder)
    traces = [model.trace(text) for text in ("I love", "We leave today")]
    for side, trace in enumerate(traces):
        weights = trace.attention[Site("decoder", 1)].weights[0, 2]
        expect(app, side, weights, trace.target_tokens)
    (bars, words) = drawn[-1]
    for label, trace in zip("AB", traces, strict=True):
        probabilities = trace.logits[0, -1].softmax(-1)
        labels = [model.label(trace, Question("", 0), index) for index in range(len(probabilities))]
        best = probabilities.argmax().item()
        result = bars[label][words.index(labels[best])]
        assert result == pytest.approx(probabilities[best].item(), abs=1e-5)
    shown = [model.write(text).writing.text for text in ("I love", "We leave today")]
    assert [text for text in all_strips(app) if text in shown] == shown


def all_strips(app):
    """The texts written in large on the page."""
    from tests.pages.pictures import canvas_pictures

    pictures = (header for header, _ in canvas_pictures(app))
    return [h["text"] for h in pictures if str(h.get("label", "")).startswith("Continuation")]


def test_before_and_after_changes_in_any_model(transformers_folders, drawn):
    folder = str(transformers_folders["GPT-2"])
    edits = Edits(gates={("decoder", 0, 1): 0.0})
    app = compared(folder, sentence=CAT, second="", kind="decoder", layer="2", head="1")
    app.session_state["histories"] = {LIBRARY + folder: [Edits(), edits]}
    app.run().button(key="compare-changes").click().run()
    model = load_transformers_reader(folder)
    traces = [model.trace(CAT, edits=each) for each in ({}, edits.at_sites(model.shape, 40))]
    for side, trace in enumerate(traces):
        weights = trace.attention[Site("decoder", 1)].weights[0, 0]
        expect(app, side, weights, trace.target_tokens)
    objective = model.objective(traces[0])
    of_text = next(bars for bars, words in drawn if len(words) == len(objective.ids))
    for label, trace in zip("AB", traces, strict=True):
        expected = log_probabilities(trace.logits, objective)[0].exp()
        np.testing.assert_allclose(of_text[label], expected.numpy(), atol=1e-5)


def test_models_that_choose_from_other_things_have_bars_of_their_own(
    bert_folder, transformers_folders, drawn
):
    other = transformers_folders["DistilBERT"]
    app = take(compared(bert_folder, masked="1"), "A")
    side = {"model": f"{LIBRARY}{other}", "masked": "2", "sentence": CAT, "kind": "encoder"}
    shelf().ask(str(other)).join()
    drawn.clear()
    app.text_input(key="side_b_link").set_value(f"/attention?{urlencode(side)}").run()
    assert not app.exception
    assert [list(bars) for bars, _ in drawn] == [["A"], ["B"]]
    assert any(
        text.value == "**In place of token 2 and In place of token 3**" for text in app.markdown
    )
    model = load_transformers_reader(other)
    trace = model.trace(CAT, masked=[2])
    best = trace.logits[0, 0].softmax(-1).topk(8)
    np.testing.assert_allclose(drawn[1][0]["B"], best.values.numpy(), atol=1e-5)
    assert drawn[1][1] == [
        model.label(trace, Question("", 0), index) for index in best.indices.tolist()
    ]


@pytest.mark.parametrize("name", ["classes", "spans", "GPT-2", "headless"])
def test_what_two_models_do_not_share_is_told(bert_folder, transformers_folders, name, drawn):
    app = take(compared(bert_folder, second=""), "A")
    shelf().ask(str(transformers_folders[name])).join()
    kind = "decoder" if name == "GPT-2" else "encoder"
    side = {"model": f"{LIBRARY}{transformers_folders[name]}", "kind": kind}
    app.text_input(key="side_b_link").set_value(f"/attention?{urlencode(side)}").run()
    assert not app.exception
    assert "The two models have no output in common" in captions(app)
    assert not drawn


@pytest.mark.parametrize("name", ["classes", "spans"])
def test_answers_of_one_model_to_two_texts(transformers_folders, name, drawn):
    app = compared(transformers_folders[name], sentence=CAT, second="")
    drawn.clear()
    click(app, "Two sentences")
    model = load_transformers_reader(transformers_folders[name])
    both = tuple(zip("AB", (CAT, EXAMPLES[0]), strict=True))
    if name == "classes":
        ((bars, words),) = drawn
        assert sorted(words) == ["glad", "sad", "so so"]
        for label, text in both:
            result = model.trace(text).logits[0, 0].softmax(-1).tolist()
            likely = dict(zip(("sad", "so so", "glad"), result, strict=True))
            np.testing.assert_allclose(bars[label], [likely[word] for word in words], atol=1e-5)
    else:  # a place in one text is none in the other
        assert [list(bars) for bars, _ in drawn] == [["A"], ["B"]] * 2


def test_a_model_that_is_not_in_memory_is_offered_and_loaded(make_bert_folder):
    name = str(make_bert_folder(seed=9))
    side = {"model": LIBRARY + name, "sentence": "dogs!", "kind": "encoder"}
    app = open_page("compare", compare_b=urlencode(side | {"layer": "2", "head": "3"}))
    assert not app.exception
    assert "is not in memory" in told(app)
    assert widget(app.selectbox, "side_b_model").value == LIBRARY + name
    button(app, "Load it").click().run()
    app = loaded(app).run()
    trace = load_bert(name).trace("dogs!")
    expect(app, 1, trace.attention[Site("encoder", 1)].weights[0, 2], trace.source_tokens)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": f"{LIBRARY}<b>nowhere"}, "<b>nowhere is not in memory"),
        ({"sentence": " "}, ""),
    ],
)
def test_what_cannot_be_shown_is_told(bert_folder, change, words):
    model = f"{LIBRARY}{bert_folder}"
    side = {"model": model, "layer": "99", "edits": "gate.encoder.99.1.0"} | change
    app = open_with(bert_folder, "compare", compare_a=urlencode(side))
    assert words in told(app)
    widget(app.selectbox, "side_a_model").set_value("en-fr").run()
    assert maps(app)


def test_what_others_loaded_is_not_listed(bert_folder):
    compared(bert_folder)
    app = open_page("compare")
    options = widget(app.selectbox, "side_a_model").options
    assert not any(str(bert_folder) in option for option in options)


def test_a_decoder_alone_reads_too_beside_one_that_has_an_encoder(transformers_folders):
    model = str(transformers_folders["GPT-2"])
    shelf().ask(model).join()
    alone = urlencode({"model": LIBRARY + model, "sentence": CAT, "kind": "decoder"})
    pair = urlencode({"sentence": CAT, "kind": "decoder"})
    app = open_page("compare", compare_a=alone, compare_b=pair)
    assert "A's decoder reads: I" in told(app)
    assert "has none" not in told(app)
    assert "What the decoders read" in [item.value for item in app.subheader]
    app = open_page("compare", compare_a=alone, compare_b=alone)
    assert "What the decoders read" not in [one.value for one in app.subheader]
