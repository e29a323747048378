"""The page Atlas: its numbers against the atlas, and one sentence against a count of it."""

import re
from html import escape

import numpy as np
import pytest

from headlight.model.corpus import CorpusLine, Window
from headlight.model.insight.correlation import rank_correlation
from headlight.pages.shared.runs.shelf import shelf
from headlight.viz.numbers import number_text
from headlight.wings.atlas import calls as runs_atlas
from headlight.wings.atlas.calls import FOLDER
from headlight.wings.atlas.counting import count_window
from headlight.wings.atlas.figures import BY_NAME, as_data, figures, plane_of
from headlight.wings.atlas.files import as_atlas, open_atlas
from headlight.wings.atlas.looking import examples, search
from headlight.wings.atlas.page import page
from headlight.wings.atlas.page.figures import EFFECTS, TITLES, figure_of
from headlight.wings.atlas.page.one_head import trimmed
from headlight.wings.talks.slides import Slide
from tests.matrix import first_of
from tests.pages.apps import address, button, drawn, new_app, on_stage, open_page, open_with
from tests.pages.pictures import canvas_pictures, heatmaps, mounted
from tests.viz.unpacking import split

SENTENCE = "My sister sold seven boats."
PLACE = {"sentence": SENTENCE, "kind": "encoder", "layer": "4", "head": "2"}
AT = 3, 1  # the same layer and head, from 0


@pytest.fixture(scope="module")
def atlas():
    return open_atlas(FOLDER)


def opened(tab, **parameters):
    app = open_page("atlas", atlas_tab=tab, **PLACE | parameters)
    assert not app.exception
    return app


def picture(app, part):
    """The only picture whose header has a part."""
    (match,) = (item for item in canvas_pictures(app) if part in item[0])
    return match


def said(app):
    """What is on the page, without the elements that explain its terms."""
    kinds = app.caption, app.markdown, app.text, app.info, app.subheader
    words = " ".join(item.value for kind in kinds for item in kind)
    return re.sub(r"<span[^>]*>|</span>", "", words)


def points(app):
    header, data = picture(app, "told")
    return header, np.frombuffer(data, "<f4").reshape(2, -1)


@pytest.mark.parametrize("name", first_of(TITLES))
def test_the_map_of_each_statistic_is_that_of_the_atlas_with_its_definition(atlas, name):
    app = opened("heads", atlas_statistic=name)
    part = "effects" if name == "removal" else "scores"
    header, _ = picture(app, part)
    shown = {kind["name"]: kind[part] for kind in header[part]}
    expected = {kind: figure_of(known, name) for kind, known in atlas.kinds.items()}
    assert set(shown) == {kind for kind, values in expected.items() if values is not None}
    for kind, values in shown.items():
        np.testing.assert_array_equal(np.array(values, dtype=float), expected[kind])
    assert header["selected"] == ["encoder", *AT]
    (defined,) = (
        element
        for element in (*atlas.statistics, *atlas.effects["definitions"])
        if element["name"] == name
    )
    assert f"Unit: {defined['unit']}. Source: {defined['source']}." in said(app)


def test_the_table_has_every_figure_of_every_head(atlas):
    (drawn,) = opened("heads").dataframe
    assert drawn.proto.HasField("placeholder")
    assert drawn.proto.placeholder == ""  # where there is no figure
    table = drawn.value
    assert len(table) == 88
    for row in table.to_dict("records"):
        known, at = atlas.kinds[row["kind"]], (row["layer"] - 1, row["head"] - 1)
        assert row["clearest pattern"] == known.clearest[at[0]][at[1]]
        for name, title in TITLES.items():
            values = figure_of(known, name)
            expected = np.nan if values is None else values[at]
            np.testing.assert_equal(row[title], expected)


def test_the_pruning_curves_are_those_of_the_atlas(atlas):
    header, data = picture(opened("heads"), "runs")
    numbers, at = np.frombuffer(data, "<f4"), 0
    for line in header["lines"]:
        steps, values = numbers[at : at + 2 * line["count"]].reshape(2, -1)
        at += 2 * line["count"]
        name = list(EFFECTS)[line["run"]]
        curve = atlas.effects["curves"][name]
        assert header["runs"][line["run"]] == f"by {EFFECTS[name]}"
        if line["panel"] == 0:
            np.testing.assert_array_equal(steps, range(89))
            np.testing.assert_allclose(values, curve["loss"], rtol=1e-6)
        else:
            np.testing.assert_allclose(np.stack([steps, values], axis=1), curve["BLEU"], rtol=1e-6)


@pytest.mark.parametrize("color", first_of(["kind", "layer"]))
def test_two_statistics_name_every_head_that_has_both(atlas, color):
    app = opened("two", atlas_across="distance", atlas_up="removal", atlas_color=color)
    header, numbers = points(app)
    assert len(header["told"]) == 64  # cross-attention has no distance
    assert header["axes"] == ["distance, tokens", "effect of removal, nats a token"]
    for told, group, (across, up) in zip(header["told"], header["groups"], numbers.T, strict=True):
        kind, place = told.partition(":")[0].split()
        layer, head = (int(item) - 1 for item in place.split("."))
        known = atlas.kinds[kind]
        assert across == np.float32(known.figures["distance"].mean[layer, head])
        assert up == np.float32(known.removal[layer, head])
        assert f"distance {number_text(across)}" in told
        label = header["kinds"][group].lower()
        assert label.startswith(kind) if color == "kind" else label == f"layer {layer + 1}"
    assert header["told"][header["selected"]].startswith("encoder 4.2:")
    correlation = number_text(rank_correlation(*numbers.astype(float)), 2, signed=True)
    assert f"**{escape(correlation)}**" in said(app)


@pytest.mark.parametrize("kind", first_of(["encoder", "decoder", "cross"]))
def test_the_plane_is_that_of_the_distances_and_tells_the_nearest(atlas, kind):
    app = opened("likeness", kind=kind, layer="2", head="3")
    header, numbers = points(app)
    plane = plane_of(np.sqrt(np.maximum(atlas.kinds[kind].distances, 0)))
    np.testing.assert_allclose(numbers.T, plane.points, atol=1e-6)
    assert header["axes"] is None
    assert f"keeps **{100 * plane.kept:.0f} %**" in said(app)
    assert header["selected"] == 8 + 2
    distances = atlas.kinds[kind].distances[10].copy()
    distances[10] = np.inf
    layer, head = divmod(int(distances.argmin()), 8)
    nearest = f"{kind} {layer + 1}.{head + 1} ({number_text(distances.min())})"
    assert header["told"][10].startswith(f"{kind} 2.3: nearest are {nearest}, ")
    assert nearest in said(app)


@pytest.mark.parametrize("target", ["", "Ma sœur a vendu."])
def test_this_sentence_has_the_figures_of_a_count_of_it_alone(shipped, atlas, target):
    app = opened("head", kind="decoder", layer="2", head="5", target=target)
    (match,) = (one for name, one, _ in mounted(app) if name == "headlight_distributions")
    header, data = split(match)
    counted = count_window(shipped, Window(0, [CorpusLine(0, SENTENCE, target or None)]), {})
    own, known = figures(counted, "decoder"), atlas.kinds["decoder"]
    assert {row["name"] for row in header["rows"]} == set(known.figures)
    bins, at = np.frombuffer(data, "<f4"), 0
    for row in header["rows"]:
        figure, here = known.figures[row["name"]], own[row["name"]].mean[1, 4]
        if figure.bins is None:
            assert row["usual"].startswith(f"overall {number_text(figure.mean[1, 4])}")
            continue
        mean, deviation = figure.of_sentences[1, 4], figure.deviation[1, 4]
        usual = f"usually {number_text(mean)} ± {number_text(deviation)}"
        assert row["usual"].startswith(usual)
        assert row["here"] == pytest.approx(here, abs=1e-6)
        assert row["said"].startswith(f"on your sentence {number_text(here)}")
        assert ("deviations" in row["said"]) == (abs(here - mean) > 2 * deviation)
        assert row["far"] == (": " in row["said"])
        sentences = bins[at : at + row["bins"]].sum()
        at += row["bins"]
        assert sentences in (0, figure.bins[1, 4].sum())
    assert at == len(bins)


def test_bins_are_cut_to_those_with_sentences_but_for_shares():
    bins = np.zeros(20)
    bins[3:5] = 7
    entropy, share = BY_NAME["entropy"], BY_NAME["broad"]
    cut, low, high = trimmed(bins, entropy)
    assert (cut.tolist(), low, high) == ([7, 7], pytest.approx(0.9), pytest.approx(1.5))
    assert len(trimmed(bins, entropy, here=3.1)[0]) == 8
    assert trimmed(bins, entropy, here=99.0)[2] == pytest.approx(6)
    assert (len(trimmed(bins, share)[0]), *trimmed(bins, share)[1:]) == (20, 0, 1)
    assert trimmed(np.eye(20)[0], entropy)[0] is None


def test_a_card_says_how_a_head_is_missed_and_where_it_looks(atlas):
    app = opened("head")
    known, words = atlas.kinds["encoder"], said(app)
    removal = known.removal[AT]
    rank = 1 + sum((each.removal > removal).sum() for each in atlas.kinds.values())
    assert f"**{number_text(removal, signed=True)}** nats a token, rank {rank} of 88" in words
    assert f"Clearest pattern: **{known.clearest[3][1]}**" in words
    header, data = picture(app, "limits")
    assert header["tokens"][0] == "3 before"
    np.testing.assert_allclose(np.frombuffer(data, "<f4"), known.shares[AT], rtol=1e-6)


def test_examples_have_the_weights_kept_and_open_in_attention(atlas):
    app = opened("head", atlas_example="2")
    for (values, header), side in zip(heatmaps(app), ("clearest", "least"), strict=True):
        results = [
            (score, weights, example)
            for example in atlas.examples
            for *at, _, of, score, weights in example["heads"]
            if (at, of) == (["encoder", *AT], side)
        ]
        results.sort(key=lambda one: one[0], reverse=side == "clearest")
        _, weights, example = results[1]
        np.testing.assert_allclose(values, np.array(weights) / 255, atol=1e-6)
        assert header["rows"] == header["columns"] == example["source"]
    opens = [item for item in app.button if item.label == "Open in Attention"]
    opens[1].click().run()
    assert not app.exception
    assert address(app)["sentence"] == example["line"][1]
    chosen = [address(app)[name] for name in ("kind", "layer", "head")]
    assert chosen == ["encoder", "4", "2"]
    assert app.title[0].value == "Attention"


def test_a_search_tells_where_every_head_looks(shipped, atlas):
    app = opened("search", atlas_word="You")
    lines = [CorpusLine(*example["line"]) for example in atlas.examples]
    looked, read = search(shipped, lines, "You")
    table = app.dataframe[0].value
    assert len(table) == len(looked)
    for row, one in zip(table.to_dict("records"), looked, strict=True):
        assert (row["kind"], row["layer"] - 1, row["head"] - 1) == one[:3]
        assert row["weight"] == pytest.approx(one.weight, abs=1e-5)
    assert f"The sentences read: {len(read)}" in [item.label for item in app.expander]


@pytest.mark.parametrize(
    ("word", "words"), [("qwxyz", "None of the sentences kept"), (" ", "Type")]
)
def test_a_token_that_is_nowhere_is_said_to_be(word, words):
    app = opened("search", atlas_word=word)
    assert words in said(app)
    assert not app.dataframe


def test_a_model_without_an_atlas_says_how_to_make_one(transformers_folders):
    app = open_with(transformers_folders["GPT-2"], "atlas")
    assert "python -m headlight.wings.atlas --model" in said(app)
    assert set(drawn(app)) <= {"library", "workshop-key", "kept"}


def test_the_card_of_the_chosen_head_is_one_click_away():
    app = opened("heads")
    button(app, "Open its card").click().run()
    assert address(app)["atlas_tab"] == "head"
    assert "Encoder, layer 4, head 2" in [item.value for item in app.subheader]


@pytest.mark.parametrize(
    ("tab", "key"), [("heads", "atlas-curve"), ("two", "atlas-points"), ("head", "atlas-clearest")]
)
def test_a_slide_shows_a_picture_of_any_tab(tab, key):
    app = new_app(talk="1")
    app.session_state["talk"] = (Slide("atlas", {"atlas_tab": tab, **PLACE}, pictures=(key,)),)
    app.run()
    assert not app.exception
    assert on_stage(app) == [key]


@pytest.mark.parametrize("name", first_of(["GPT-2", "DistilBERT", "Marian"]))
def test_every_tab_is_there_for_other_models(transformers_folders, pairs, monkeypatch, name):
    app = open_with(transformers_folders[name], "atlas", sentence=SENTENCE)
    reader = shelf().get(str(transformers_folders[name])).reader
    lines = [CorpusLine(number, *pair) for number, pair in enumerate(pairs)]
    count = count_window(reader, Window(0, lines), {})
    made = as_atlas(as_data(count), list(examples(reader, count)))
    for module in (page, runs_atlas):
        monkeypatch.setattr(module, "atlas_of", lambda model=None: made)
    words = {"heads": "All statistics", "two": "Spearman", "likeness": "Most alike"}
    for tab, expected in (words | {"head": "Examples", "search": "Weight"}).items():
        app.session_state["atlas_tab"] = tab
        app.session_state["atlas_word"] = "love"
        app.run()
        assert not app.exception, tab
        assert expected in said(app), tab
    assert app.dataframe[0].value["weight"].between(0, 1).all()


def test_a_text_too_long_for_so_many_heads_is_said_to_be(monkeypatch):
    monkeypatch.setattr(runs_atlas, "MOST_NUMBERS", 100)
    app = opened("head", sentence="Another sentence, of which nothing is kept.")
    assert runs_atlas.TOO_LONG in said(app)
    assert "atlas-card" in drawn(app)
