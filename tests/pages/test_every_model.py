"""Every page that is about a model, with a model of every sort: its numbers, and what it lacks."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from headlight.model.decoding.steps import stack_rows
from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.model.insight.scoring import log_probabilities
from headlight.model.shape import ABILITIES
from headlight.model.transformer.trace import Site
from headlight.pages.parts.decoding.request import LONGEST
from headlight.pages.parts.models.page import ABILITIES as WORDS
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.show.comparison import LABELS
from headlight.pages.shared.state.models import LIBRARY
from headlight.viz.numbers import number_text
from headlight.viz.tokens import WRITES
from tests.matrix import first_of
from tests.model.library.conftest import save_model
from tests.pages.apps import address, button, drawn, loaded, open_page, open_with
from tests.pages.pictures import canvas_pictures, heatmaps

MODELS = (
    "GPT-2",
    "Llama",
    "DistilBERT",
    "classes",
    "spans",
    "Marian",
    "T5",
    "Bloom",
    "score",
    "labels",
    "tags",
)
BLOOM = {"vocab_size": 400, "hidden_size": 16, "n_layer": 2, "n_head": 4}
PAGES = (
    "attention", "heads", "masks", "inside", "decoding", "compare", "positions", "models",
)  # fmt: skip
NEEDS = {
    "inside": ["take apart"],
    "decoding": ["write"],
    "positions": ["move positions"],
}
NEEDED_BY_TAB = {
    "why": "show the stream", "stream": "show the stream", "words": "compare words",
}  # fmt: skip
OF_EVERY_PAGE = {"library", "workshop-key", "kept"}
TEXT = "I love my cat."
HEAD, QUERY, KEY = 1, 2, 1  # from 0


@pytest.fixture(scope="session")
def folders(transformers_folders, tmp_path_factory, pairs):
    """The folders of models, one of which attends in code of its own."""
    bloom, texts = tmp_path_factory.mktemp("Bloom"), [text for pair in pairs for text in pair]
    save_model(bloom, texts, "BloomForCausalLM", "BloomConfig", BLOOM, None)
    return transformers_folders | {"Bloom": bloom}


@pytest.fixture(scope="module", params=first_of(MODELS))
def tiny(request, folders):
    """A model in memory, and what it reads and computes for the text."""
    name = str(folders[request.param])
    reader = shelf().ask(name).join().reader
    kinds = reader.shape.kinds
    made = SimpleNamespace(name=name, key=LIBRARY + name, reader=reader, kind=list(kinds)[-1])
    made.pair = "cross" in kinds
    made.last = kinds[made.kind][0] - 1  # layer, from 0
    made.target = reader.write(TEXT).writing if made.pair else None
    made.trace = reader.trace(TEXT, made.target)
    yield made
    shelf().loaded.pop(name, None)


def trace_of(tiny, edits):
    sites = edits.at_sites(tiny.reader.shape, tiny.trace.longest)
    return tiny.reader.trace(TEXT, tiny.target, edits=sites)


def open_tiny(tiny, page, edits=None, **parameters):
    """A page about a head of the last kind of attention of a model."""
    place = {"sentence": TEXT, "kind": tiny.kind, "mask_kind": tiny.kind, "head": str(HEAD + 1)}
    place |= {"layer": str(tiny.last + 1), "head_number": str(HEAD + 1)}
    place |= {"query": str(QUERY + 1), "key": str(KEY + 1)}
    if edits:
        place["edits"] = write_edits(edits)
    return open_with(tiny.name, page, **place | parameters)


def weights_of(tiny, trace, layer=None):
    layer = tiny.last if layer is None else layer
    return trace.attention[Site(tiny.kind, layer)].weights[0, HEAD].numpy()


def expect_weights(values, weights):
    """A heatmap shows these weights, struck out at most where they are 0."""
    np.testing.assert_allclose(np.nan_to_num(values), weights, atol=1e-5)


def said(app):
    kinds = (app.text, app.info, app.caption, app.markdown)
    return " ".join(item.value for kind in kinds for item in kind)


def picture(app, part):
    """The header and the bytes of the picture whose header has a part of this name."""
    return next(item for item in canvas_pictures(app) if part in item[0])


def to_be_seen(app):
    """Every picture of the page, but for what a browser keeps of the visitor's own."""
    return [
        item
        for item in canvas_pictures(app)
        if not str(item[0].get("name")).startswith("headlight-")
    ]


def name_of(key):
    """What the key of a picture names, without the number of a stage and its formula."""
    return key.partition(". ")[2].partition(":")[0] or key


def picture_of(app, stage):
    """The numbers of a stage on the page Masks, whose heatmaps come first."""
    keys = [name_of(key) for key in drawn(app) if re.match(r"\d\. ", key)]
    return heatmaps(app)[keys.index(stage)][0]


def pictures_of(page, tiny):
    """The pictures that a page must have."""
    read = {"source": tiny.trace.source_tokens, "target-tokens": tiny.trace.target_tokens}
    stages = ["Masked scores", "Weights", "Weights minus those as trained"]
    if tiny.trace.attention[Site(tiny.kind, 0)].scores is not None:
        stages += ["Scores"]
    writes = [] if "write" in tiny.reader.missing else ["trained"]
    steps = ["projections", "dot", "mask", "softmax", "values", "heads", "contributions"]
    return {
        "attention": [*(side for side, tokens in read.items() if tokens), "grid", "heatmap"],
        "heads": ["switchboard", "map", *writes],
        "masks": ["matrix", *stages, *writes],
        "inside": [f"story-{step}" for step in steps],
        "decoding": ["player", "forced"],
        "compare": ["maps"],
        "positions": ["changed", "weights-trained", "weights-changed"],
        "models": [],
    }[page]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_pictures_or_says_what_the_model_lacks(tiny, page):
    sides = {"compare_a": f"model={tiny.key}&kind={tiny.kind}"} if page == "compare" else {}
    app = open_tiny(tiny, page, **sides)
    lacks = [need for need in NEEDS.get(page, ()) if need in tiny.reader.missing]
    if lacks:
        assert tiny.reader.missing[lacks[0]] in said(app)
        assert not {*drawn(app)} - OF_EVERY_PAGE - {"source", "target-tokens"}
    else:
        assert {*pictures_of(page, tiny)} <= {*map(name_of, drawn(app))}
    assert not app.error


def test_masks_shows_those_as_trained_and_ways_of_blocking_in_tabs_of_their_own(tiny):
    assert "trained-both" in drawn(open_tiny(tiny, "masks", masks_tab="trained"))
    has_scores = tiny.trace.attention[Site(tiny.kind, 0)].scores is not None
    assert ("blocking" in drawn(open_tiny(tiny, "masks", masks_tab="blocking"))) == has_scores


def test_the_list_says_what_the_model_can_and_cannot_do(tiny):
    words = said(open_tiny(tiny, "models"))
    for ability in ABILITIES:
        reason = tiny.reader.missing.get(ability)
        assert reason is None or f"{WORDS[ability].capitalize()}: {reason}" in words
        assert reason or WORDS[ability] in words
    assert tiny.name in words


def test_attention_shows_the_weights_of_every_kind(tiny):
    app = open_tiny(tiny, "attention", layer="1")
    for kind in tiny.reader.shape.kinds:
        if tiny.pair:
            app.segmented_control(key="kind").set_value(kind).run()
        site = Site(kind, 0)
        values, header = heatmaps(app)[0]
        expect_weights(values, tiny.trace.attention[site].weights[0, HEAD].numpy())
        read = [label.partition(WRITES)[0] for label in header["rows"]]
        assert read == [token.text for token in tiny.trace.query_tokens(site)]
        assert header["columns"] == [token.text for token in tiny.trace.key_tokens(site)]


def test_heads_that_are_off_change_the_map_and_the_measure(tiny):
    gates = {(kind, 0, head): 0.0 for kind in tiny.reader.shape.kinds for head in (0, 1)}
    app = open_tiny(tiny, "heads", Edits(gates=gates))
    trace = trace_of(tiny, Edits(gates=gates))
    expect_weights(heatmaps(app)[0][0], weights_of(tiny, trace))
    objective = tiny.reader.objective(tiny.trace)
    if objective is None:
        usual, states = (list(item.outputs.values())[-1] for item in (tiny.trace, trace))
        moved = ((states - usual).norm(dim=-1) / usual.norm(dim=-1)).mean()
        assert app.metric[0].value == f"{number_text(100 * moved, 1, signed=True)} %"
    else:
        now, usual = (
            log_probabilities(each.logits, objective).sum() for each in (trace, tiny.trace)
        )
        unit = "" if objective.is_score else " nats"
        assert app.metric[0].value == f"{number_text(now)}{unit}"
        assert abs(now - usual) > (1e-5 if objective.is_score else 1e-3)


def test_a_closed_cell_has_no_weight(tiny):
    cell = CellEdit(tiny.kind, QUERY, KEY, opened=False)
    app = open_tiny(tiny, "masks", Edits(cells=(cell,)))
    weights = weights_of(tiny, trace_of(tiny, Edits(cells=(cell,))))
    shown = picture_of(app, "Weights")
    change = picture_of(app, "Weights minus those as trained")
    expect_weights(shown, weights)
    assert np.isnan(shown[QUERY, KEY])
    assert weights[QUERY, KEY] == 0
    expect_weights(change, weights - weights_of(tiny, tiny.trace))
    header, states = picture(app, "editable")
    state = np.frombuffer(states, np.uint8).reshape(len(header["queries"]), -1)[QUERY, KEY]
    assert state == 2  # closed by the visitor


def test_a_cell_that_cannot_be_opened_stays_closed_and_that_is_said(tiny):
    if tiny.kind != "decoder":
        pytest.skip("there is no closed cell")
    opened = Edits(cells=(CellEdit("decoder", KEY, QUERY, opened=True),))
    app = open_tiny(tiny, "masks", opened)
    words, weights = tiny.reader.missing.get("open cells"), picture_of(app, "Weights")
    assert (words in said(app)) if words else not np.isnan(weights[KEY, QUERY])
    assert np.isnan(weights[KEY, QUERY]) == bool(words)
    closed = CellEdit("decoder", QUERY, KEY, opened=False)
    again = Edits(cells=(closed, replace(closed, opened=True)))
    app = open_tiny(tiny, "masks", again)
    expect_weights(picture_of(app, "Weights"), weights_of(tiny, tiny.trace))
    assert words is None or words not in said(app)


def test_inside_takes_apart_the_weight_of_the_run(tiny):
    if "take apart" in tiny.reader.missing:
        pytest.skip("it says so instead")
    gates = Edits(gates={(tiny.kind, 0, 0): 0.5})
    for edits in (None, gates):
        app = open_tiny(tiny, "inside", edits)
        trace = trace_of(tiny, edits) if edits else tiny.trace
        assert app.metric[0].value == f"{weights_of(tiny, trace)[QUERY, KEY]:.3f}"
    for tab in ("why", "beyond", "switches", "stream", "words"):
        app = open_tiny(tiny, "inside", inside_tab=tab)
        lacks = NEEDED_BY_TAB.get(tab)
        why_not = tiny.reader.missing.get(lacks)
        assert why_not is None or why_not in said(app)


def test_the_player_has_the_steps_of_the_writing(tiny):
    if "write" in tiny.reader.missing:
        pytest.skip("it says so instead")
    app = open_tiny(tiny, "decoding")
    decoding = tiny.reader.write(TEXT, longest=LONGEST.default)
    header, body = picture(app, "bars")
    steps, read = len(decoding.steps), [token.text for token in decoding.steps[-1].read]
    assert header["texts"][-1] == decoding.writing.text
    assert header["read"] == read
    for bars, step in zip(header["bars"], decoding.steps, strict=True):
        (written,) = [bar for bar in bars if bar["chosen"]]
        assert written["text"] == step.token.text
        assert written["probability"] == pytest.approx(np.exp(step.log_probability), abs=1e-5)
    values = np.frombuffer(body, np.float32)
    kinds = ("decoder", "cross") if tiny.pair else ("decoder",)
    for kind in kinds:
        rows = stack_rows([step.weights for step in decoding.steps], kind)
        layer = min(tiny.last, len(rows) - 1)
        size = len(read) if kind == "decoder" else len(header["source"])
        expect_weights(values[: steps * size].reshape(steps, size), rows[layer][HEAD].numpy())
        values = values[steps * size :]


def test_what_a_model_wrote_is_as_likely_when_it_is_forced(tiny):
    if "write" in tiny.reader.missing:
        pytest.skip("there is nothing to force")
    app = open_tiny(tiny, "decoding")
    header, body = picture(app, "wanted")
    steps = tiny.reader.write(TEXT).steps
    forced = np.frombuffer(body, np.float32).reshape(2, -1)[0, : len(steps)]
    likely = np.exp([step.log_probability for step in steps])[: len(forced)]
    np.testing.assert_allclose(forced, likely, atol=1e-4)
    assert header["wanted"][: len(steps)] == [step.token.text for step in steps][: len(forced)]


def test_compare_shows_the_weights_of_two_texts(tiny):
    other = "We leave today."
    place = f"model={tiny.key}&kind={tiny.kind}&layer={tiny.last + 1}&head={HEAD + 1}"
    sides = {
        f"compare_{side}": f"{place}&sentence={text}"
        for side, text in zip("ab", (TEXT, other), strict=True)
    }
    app = open_tiny(tiny, "compare", **sides)
    header, body = picture(app, "titles")
    values = np.frombuffer(body, "<f4")
    for side, text in zip(header["tokens"], (TEXT, other), strict=False):
        weights = weights_of(tiny, tiny.reader.trace(text))
        expect_weights(values[: weights.size].reshape(weights.shape), weights)
        assert list(map(len, side)) == list(weights.shape)
        values = values[weights.size :]


@pytest.mark.parametrize("page", first_of(["attention", "heads", "masks", "inside", "decoding"]))
def test_the_address_of_a_page_shows_the_same_anew(tiny, page):
    app = open_tiny(tiny, page)
    cell = CellEdit(tiny.kind, QUERY, KEY, opened=False)
    edits = Edits(gates={(tiny.kind, 0, 0): 0.5}, cells=(cell,))
    app.session_state["histories"] = {tiny.key: [Edits(), edits]}
    app.run()
    assert not app.exception
    again = open_page(page, **address(app))
    assert not again.exception
    assert address(again) == address(app)
    assert to_be_seen(again) == to_be_seen(app)
    assert [metric.value for metric in again.metric] == [item.value for item in app.metric]


@pytest.mark.parametrize("page", first_of(PAGES))
def test_a_model_that_is_not_in_memory_can_be_loaded_on_every_page(transformers_folders, page):
    expect_loaded_on(transformers_folders, page)


def expect_loaded_on(transformers_folders, page):
    """A page offers to load the model of its address, and then shows it."""
    name = str(transformers_folders["GPT-2"])
    shelf().loaded.pop(name, None)
    sides = {"compare_a": f"model={LIBRARY}{name}"} if page == "compare" else {}
    app = open_page(page, model=LIBRARY + name, sentence=TEXT, **sides)
    assert "is not in memory" in said(app)
    button(app, "Load it").click().run()
    app = loaded(app).run()
    assert "is not in memory" not in said(app)
    assert bool({*drawn(app)} - OF_EVERY_PAGE) == (page != "models")


def test_probabilities_are_drawn_once_until_something_is_changed(folders):
    texts = {"sentence": TEXT, "kind": "decoder"}
    off = Edits(gates={("decoder", 0, 0): 0.0})
    for edits, runs in (({}, ["as trained"]), ({"edits": write_edits(off)}, [*LABELS])):
        app = open_with(folders["GPT-2"], "heads", **texts, **edits)
        assert picture(app, "runs")[0]["runs"] == runs
