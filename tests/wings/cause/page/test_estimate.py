"""The quick estimate: its numbers next to the truth, its links, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight import estimate
from headlight.model.insight.ablation import cell_removals, head_removals
from headlight.model.insight.correlation import rank_correlation
from headlight.model.insight.estimate import estimated_closings, estimated_removals, gaps
from headlight.model.transformer.trace import Site
from headlight.pages.shared.runs.heads import Closings
from headlight.pages.shared.state.choices import LONGEST_SENTENCE
from headlight.viz.numbers import number_text
from headlight.wings.cause.page import estimate as tab
from headlight.wings.cause.page.estimate import MOST_CELLS, MOST_NAMED, outliers
from tests.matrix import first_of
from tests.odd_texts import ODD_TEXTS
from tests.pages.apps import address, button, open_page, open_with
from tests.pages.pictures import canvas_pictures

SENTENCE = "My sister sold seven boats."
PLACE = {"cause_tab": "estimate", "sentence": SENTENCE}


def points(app):
    """The headers and the true and estimated numbers of both scatters: heads, then cells."""
    results = [
        picture
        for picture in canvas_pictures(app)
        if "axes" in picture[0] and "named" in picture[0]
    ]
    return [(header, np.frombuffer(data, "<f4").reshape(2, -1)) for header, data in results]


def estimated_map(app):
    (header,) = [header for header, _ in canvas_pictures(app) if "effects" in header]
    return header


def said(app):
    return " ".join(each.value for item in (app.info, app.text, app.caption) for each in item)


@pytest.fixture(scope="module")
def read(shipped):
    return shipped, shipped.trace(SENTENCE, shipped.translate(SENTENCE))


def flat(effects):
    return torch.cat(list(effects.values())).numpy()


def check(app, read, edits=None, on=None):
    """The scatter of the heads has the numbers of the model; return its place in each."""
    shipped, trace = read
    objective = shipped.objective(trace)
    objective = objective if on is None else objective.only(on)
    estimated = estimated_removals(shipped, trace, edits, objective)
    removals = dict(head_removals(shipped, trace, edits, objective))
    true = flat({site: removals[site] for site in estimated})
    header, numbers = points(app)[0]
    np.testing.assert_allclose(numbers, [true, flat(estimated)], atol=2e-4)
    value = rank_correlation(flat(estimated), true)
    assert app.metric[0].value == number_text(value, 2, signed=True)
    named = [item["place"] for item in header["named"]]
    assert set(named) == set(outliers(*numbers))
    return header, estimated, true


def test_every_head_is_estimated_and_measured_and_the_furthest_are_named(read):
    shipped, trace = read
    app = open_page("cause", **PLACE)
    assert not app.exception
    header, estimated, true = check(app, read)
    assert len(header["told"]) == 88
    apart = np.abs(true - flat(estimated))
    assert header["selected"] == apart.argmax()
    kinds = {kind["name"]: kind["effects"] for kind in estimated_map(app)["effects"]}
    for site, values in estimated.items():
        np.testing.assert_allclose(kinds[site.kind][site.layer], values, atol=2e-4)
    (table,) = [block.value for block in app.markdown if block.value.startswith("| Head")]
    sites = [(site, head) for site in estimated for head in range(8)]
    named = [item["place"] for item in header["named"]]
    result = gaps(shipped, trace, [sites[place] for place in named])
    for place, one, gap in zip(named, header["named"], result, strict=True):
        assert sum(gap[:3]) == pytest.approx(true[place] - flat(estimated)[place], abs=1e-4)
        lines = table.replace("\u00a0", " ").splitlines()
        (row,) = [line for line in lines if line.startswith(f"| {one['words']} |")]
        assert number_text(true[place], signed=True) in row
        assert number_text(gap.sharpness, 2) in row


@pytest.mark.matrix
def test_the_cells_of_the_chosen_head_are_closed_one_by_one(read):
    shipped, trace = read
    app = open_page("cause", **PLACE, kind="cross", layer="2", head="3", measured="2")
    check(app, read, on=1)
    assert address(app)["measured"] == "2"
    site, objective = Site("cross", 1), shipped.objective(trace).only(1)
    estimated = estimated_closings(shipped, trace, site, None, objective)[2]
    header, numbers = points(app)[1]
    keys = [token.text for token in trace.source_tokens]
    cells = (~estimated.isnan()).nonzero().tolist()
    assert len(header["told"]) == len(cells) <= MOST_CELLS
    assert f"All {len(cells)} open cells are measured." in said(app)
    true = torch.cat(list(cell_removals(shipped, trace, site, 2, cells, objective)))
    expected = sorted(
        (round(one.item(), 3), round(estimated[query, key].item(), 3))
        for (query, key), one in zip(cells, true, strict=True)
    )
    result = sorted((round(float(one), 3), round(float(other), 3)) for one, other in numbers.T)
    np.testing.assert_allclose(result, expected, atol=2e-3)
    assert any(f"looks at “{keys[0]}”, weight" in name for name in header["told"])


def test_of_many_cells_some_are_measured_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr(tab, "MOST_CELLS", 10)
    app = open_page("cause", **PLACE, kind="encoder", layer="1", head="1")
    _, cells = points(app)
    assert len(cells[0]["told"]) == 10
    sizes = np.abs(cells[1][1])
    assert (np.diff(sizes) <= 0).all(), "from the largest estimate on"
    assert "open cells 10 are measured" in said(app)


def test_changes_in_force_count(read):
    gate = torch.ones(8)
    gate[2] = 0
    edits = {Site("cross", 1): AttentionEdit(gate=gate)}
    app = open_page("cause", **PLACE, edits="gate.cross.2.3.0", kind="cross", layer="2", head="3")
    _, estimated, _ = check(app, read, edits)
    assert estimated[Site("cross", 1)][2] == 0
    assert np.abs(points(app)[1][1]).max() < 1e-5, "nothing passes through a head that is off"


def test_what_takes_long_waits_for_a_button(monkeypatch):
    for name in ("TRUTH", "CLOSINGS"):
        monkeypatch.setattr(tab, name, replace(getattr(tab, name), unasked=1))
    place = {"cause_tab": "estimate", "sentence": "Her brother bought nine books."}
    app = open_page("cause", **place, kind="cross", layer="2", head="3")
    assert not points(app)
    assert estimated_map(app)["selected"] == ["cross", 1, 2]
    button(app, "Measure every head").click().run()
    assert len(points(app)) == 1
    button(app, "Measure its cells").click().run()
    assert len(points(app)) == 2
    app.run()
    assert len(points(app)) == 2, "what was measured stays"


@pytest.mark.parametrize("name", first_of(["GPT-2", "Llama", "T5", "Marian", "classes", "spans"]))
def test_models_of_the_library_have_it(name, transformers_folders):
    folder = transformers_folders[name]
    app = open_with(folder, "cause", cause_tab="estimate", sentence="I love it.")
    assert not app.exception
    if len(points(app)) == 1:  # it writes much, so that there are many cells
        button(app, "Measure its cells").click().run()
    heads, cells = points(app)
    assert np.isfinite(heads[1]).all()
    assert np.isfinite(cells[1]).all()
    assert np.abs(heads[1][1]).max() > 1e-4
    assert cells[0]["clickable"]


@pytest.mark.parametrize("name", ["headless", "DistilBERT"])
def test_a_model_that_says_nothing_has_nothing_to_measure(name, transformers_folders):
    folder = transformers_folders[name]
    app = open_with(folder, "cause", cause_tab="estimate", sentence="I love it.")
    assert not app.exception
    assert not points(app)
    assert "Without a prediction, the effect of a head cannot be measured" in said(app)


def test_hidden_words_are_what_is_measured(transformers_folders):
    folder = transformers_folders["DistilBERT"]
    place = {"cause_tab": "estimate", "sentence": "I love it.", "masked": "2"}
    app = open_with(folder, "cause", **place)
    assert len(points(app)) == 2


def test_what_has_no_gradient_is_refused_with_a_sentence(monkeypatch):
    monkeypatch.setattr(estimate, "MOST_WEIGHTS", 1)
    app = open_page("cause", **PLACE)
    assert not app.exception
    assert not points(app)
    assert "too long for that in so large a model" in said(app)


@pytest.mark.parametrize("name", first_of(ODD_TEXTS))
def test_odd_sentences_break_nothing(name):
    app = open_page("cause", **PLACE)
    app.text_input(key="sentence").set_value(ODD_TEXTS[name][:LONGEST_SENTENCE]).run()
    assert not app.exception


def test_no_more_than_a_few_are_named_and_none_that_is_near():
    true = np.arange(20.0)
    assert outliers(true, true) == []
    assert len(outliers(true, np.zeros(20))) == MOST_NAMED
    assert outliers(true, true + np.eye(20)[3] * 5) == [3]
    assert outliers(np.full(3, 1e-6), np.zeros(3)) == []


def test_a_cell_says_the_largest_weight_of_its_row_once():
    none, weights, largest = np.zeros(2), np.array([0.9, 0.1]), np.array([0.9, 0.7])
    closings = Closings([(0, 1), (1, 0)], none, none, weights, largest, 2)
    assert tab.largest_beside(closings, 0) == ", the largest of its row"
    assert tab.largest_beside(closings, 1) == ", in its row up to 0.700"
