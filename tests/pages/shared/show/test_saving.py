import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.model.edits import CellEdit, Edits
from headlight.pages.shared.show.captions import edit_words, site_words
from headlight.pages.shared.show.saving import LONGEST_NAME, NO_MODEL, About, Picture, formats_of
from headlight.pages.shared.state import showing
from headlight.pages.shared.state.showing import Showing
from headlight.viz import attention_heatmap
from headlight.viz.numbers import Numbers, to_csv
from tests.pages.apps import new_app
from tests.pages.pictures import save_menus


@pytest.fixture
def app():
    return new_app()


def menus(app):
    """The headers of the menus that save the page's pictures, by what they show."""
    return {header["what"]: header for header, _ in save_menus(app)}


@given(st.text(), st.text(), st.text())
def test_a_file_name_is_short_and_of_safe_characters(key, what, sentence):
    name = About("title", key, sentence).file_name(what)
    assert re.fullmatch(r"headlight(_[a-z0-9-]+)*", name)
    assert len(name) <= LONGEST_NAME


def test_a_file_name_says_what_is_in_it():
    name = About("English to French", "en-fr", "I love my cat.").file_name("Cross-attention, mean")
    assert name == "headlight_en-fr_cross-attention-mean_i-love-my-cat"


def test_files_of_other_sentences_and_heads_have_other_names():
    what, places = "What was written from each word", ("Decoder, layer 1, head 2", "all layers")
    names = {
        About("A model", "a/folder/of/a/model", sentence, place=place).file_name(what)
        for sentence in ("The cat sat on the mat.", "I love my cat.")
        for place in places
    }
    assert len(names) == 4
    assert all(
        name.startswith("headlight_model_what-was-written-from-each-word_") for name in names
    )
    head = About("A model", "en-fr", "The dog ate.").file_name("Decoder, masked, layer 3, head 6")
    assert head == "headlight_en-fr_decoder-masked-layer-3-head-6_the-dog-ate"


def test_a_caption_says_all_in_sentences():
    about = About("English to French", "en-fr", "Who is that?", "Qui est-ce", "head 8 off")
    assert about.caption("Cross-attention, layer 2") == (
        "Cross-attention, layer 2. Model: English to French. Sentence: “Who is that?” "
        "The decoder's text: “Qui est-ce”. Changed: head 8 off."
    )


def test_edits_are_told_in_words():
    assert edit_words(Edits()) == ""
    edits = Edits(
        off=("look-ahead",),
        masks={("window", "encoder"): (2,)},
        gates={("cross", 1, 7): 0.0, ("decoder", 0, 0): 0.5, ("cross", 0, 0): 1.0},
        cells=(
            CellEdit("decoder", 0, 0, False),
            CellEdit("decoder", 0, 1, False),
            CellEdit("decoder", 0, 1, True),
        ),
    )
    words = edit_words(edits)
    for part in (
        "look-ahead mask off",
        "within 2 of the diagonal",
        f"{site_words('cross', 1, 7)} off",
        "faded to 0.50",
        "1 cell closed",
        "1 cell opened",
    ):
        assert part in words
    assert "padding" not in words
    assert words.count("Cross-attention") == 1


def test_numbers_are_offered_if_there_are_some():
    few = Numbers(np.zeros(3), {"key": ["a", "b", "c"]})
    assert formats_of(Picture("x", "x", NO_MODEL, {"w": few})) == [
        "png",
        "svg",
        "pdf",
        "html",
        "csv",
        "npz",
        "json",
    ]
    assert formats_of(Picture("x", "x", NO_MODEL)) == ["png", "svg", "pdf", "html", "json"]


PICTURES = {
    "app.py": ["Tokens read", "Encoder, all heads"],
    "pages/masks.py": ["Mask in force", "Masked scores"],
    "pages/heads.py": ["The switches of all heads", "Probability of each token"],
    "pages/inside.py": ["The dot product", "Into the residual stream"],
    "pages/positions.py": ["Translation as trained", "Encoder, layer 2, head 8"],
    "pages/decoding.py": ["Decoding, layer 2", "Teacher forcing"],
    "pages/compare.py": ["Both maps and their difference"],
    "pages/model.py": ["Training curves", "Cross-attention during the training"],
}


@pytest.mark.parametrize("page", PICTURES)
def test_every_page_offers_its_pictures(app, page):
    expect_offered(app, page, PICTURES[page])


def expect_offered(app, page, pictures):
    app.run() if page == "app.py" else app.switch_page(page).run()
    assert not app.exception
    offered = list(menus(app))
    for picture in pictures:
        assert any(what.startswith(picture) for what in offered), offered
    names = [header["name"] for header in menus(app).values()]
    assert len(set(names)) == len(names)


def test_captions_name_the_changes_only_of_pictures_that_have_them(app):
    app.query_params.update(edits="look-ahead.off", masks_tab="trained")
    app.switch_page("pages/masks.py").run()
    captions = {what: header["caption"] for what, header in menus(app).items()}
    changed = next(words for what, words in captions.items() if what.startswith("Mask in force"))
    trained = captions["Mask as trained, both"]
    assert "Changed: look-ahead mask off." in changed
    assert "Changed: nothing, as trained." in trained


def asked(app, key, wanted):
    """The file that a page delivers when it is asked for."""
    app.session_state.file_asked_for = app.session_state.page, key, wanted
    app.run()
    results = [(header, body) for header, body in save_menus(app) if "file" in header]
    assert len(results) == 1
    header, body = results[0]
    assert header["file"]["format"] == wanted
    return header, body


def test_a_component_is_made_when_it_is_asked_for(app, shipped):
    app.query_params.update({"sentence": "I love my <b>.", "kind": "cross"})
    app.run()
    offered = {header["key"]: header["copies"] for header, _ in save_menus(app)}
    assert offered["grid"] == offered["heatmap"] == ["frame", "component", "address"]
    _, body = asked(app, "heatmap", "component")
    assert bytes(body).startswith(b"<headlight-heatmap-")
    assert b"I love my &lt;b&gt;." in bytes(body)


def test_the_files_hold_the_numbers_of_the_run(app, shipped):
    app.query_params.update({"sentence": "I love my cat.", "kind": "cross"})
    app.run()
    trace = shipped.trace("I love my cat.")
    _, body = asked(app, "grid", "npz")
    saved = np.load(io.BytesIO(body), allow_pickle=False)
    weights = trace.weights("cross").numpy()  # (layers, heads, query, key)
    np.testing.assert_allclose(saved["weight"][:, :-2], weights, atol=1e-6)
    np.testing.assert_allclose(saved["weight"][:, -2], weights.mean(axis=1), atol=1e-6)
    assert saved["weight.key"].tolist() == [token.text for token in trace.source_tokens]
    read = [row.partition(" → ")[0] for row in saved["weight.query"].tolist()]
    assert read == [token.text for token in trace.target_tokens]
    app.run()
    assert not any("file" in header for header, _ in save_menus(app))  # once only


def test_too_many_numbers_are_refused_on_a_page_as_in_a_notebook(app, shipped, monkeypatch):
    monkeypatch.setattr("headlight.viz.numbers.MOST_ROWS", 10)
    app.query_params.update({"sentence": "I love my cat.", "kind": "cross"})
    app.run()
    app.session_state.file_asked_for = app.session_state.page, "heatmap", "csv"
    app.run()
    weights = shipped.trace("I love my cat.").weights("cross")[2, 5].numpy()
    rows, columns = (["a"] * length for length in weights.shape)
    with pytest.raises(ValueError, match="a CSV file takes up to 10,") as error:
        to_csv(attention_heatmap(weights, rows, columns).numbers)
    assert str(error.value) in [info.value for info in app.info]
    assert not any("file" in header for header, _ in save_menus(app))


def test_a_saved_scene_brings_its_choices_back(app, monkeypatch):
    monkeypatch.setattr(showing, "_in_force", [Showing()])  # as without talks
    app.query_params.update(sentence="I love my cat.", layer="1", head="3")
    app.run()
    _, body = asked(app, "heatmap", "json")
    scene = json.loads(body)
    assert (scene["page"], scene["picture"]) == ("attention", "heatmap")
    again = new_app(**scene["parameters"]).run()
    assert (again.session_state.sentence, again.session_state.layer) == ("I love my cat.", 0)
    assert again.session_state.head == 2
    assert scene["caption"].startswith(site_words("cross", 0, 2))
    assert scene["axes"]["weight"]["key"][-1] == "<end>"
