"""Masks put in force by boxes, links and clicks, for some layers and together."""

import pytest
import torch

from headlight.model.edits import EXTRA, Edits
from headlight.model.insight.masks import cost
from headlight.model.transformer.trace import Site
from headlight.pages.parts.masks.library import figures, setting_of
from tests.pages.apps import edited, open_page
from tests.pages.pictures import canvas_pictures

SENTENCE = "My sister sold seven boats."


def masks_page(**choices):
    app = open_page("masks", sentence=SENTENCE, **choices)
    assert not app.exception
    return app


def cards(app):
    return next(header for header, _ in canvas_pictures(app) if "cards" in header)["cards"]


def strips(app):
    return [header for header, _ in canvas_pictures(app) if header.get("clickable") is True]


def edits_of(app):
    return app.session_state["histories"]["en-fr"][-1]


def test_a_mask_is_added_in_some_layers_only():
    app = masks_page(mask_kind="encoder", layer="2")
    app.selectbox(key="mask_layers").set_value("odd").run()
    edited(app.selectbox, "behind").set_value((2,)).run()
    app.selectbox(key="mask_layers").set_value("this").run()
    assert edited(app.selectbox, "behind").value is None
    edited(app.selectbox, "behind").set_value((3,)).run()
    masks = {("behind", "encoder", "odd"): (2,), ("behind", "encoder", 1): (3,)}
    assert edits_of(app) == Edits(masks=masks)


def test_a_mask_that_moves_tokens_is_added_in_all_layers_whatever_is_chosen():
    app = masks_page(mask_kind="encoder", layer="1", mask_layers="this", masks_tab="library")
    edited(app.selectbox, "documents-anew").set_value((4,)).run()
    edited(app.selectbox, "documents").set_value((4,)).run()
    masks = {("documents-anew", "encoder"): (4,), ("documents", "encoder", 0): (4,)}
    assert edits_of(app) == Edits(masks=masks)
    assert edited(app.selectbox, "documents-anew").value == (4,)
    assert [card["title"] for card in cards(app) if card["in_force"]] == [
        "Packed documents: 14, 38",
        "Packed documents, positions restart: 14, 38",
    ]


def test_masks_are_put_together_by_one_box_that_comes_with_the_first():
    app = masks_page(mask_kind="decoder")
    assert not [box for box in app.selectbox if box.key == "together"]
    app.selectbox(key="sinks").set_value((1, 2)).run()
    app.selectbox(key="together").set_value("only").run()
    assert edits_of(app) == Edits(masks={("sinks", "decoder"): (1, 2)}, together="only")


def test_documents_show_their_borders_on_the_tokens():
    app = masks_page(mask_kind="encoder", edits="documents.encoder.2.4")
    strip = next(header for header in strips(app) if "Packed documents" in header["label"])
    assert [place for place, chip in enumerate(strip["chips"]) if chip["changed"]] == [2, 4]


def test_every_card_has_the_figures_of_its_mask():
    app = masks_page(mask_kind="decoder", masks_tab="library", mask_length="512")
    names = [mask.name for mask in EXTRA.values() if "decoder" in mask.kinds]
    for name, card in zip(names, cards(app), strict=True):
        mask = EXTRA[name]
        left = cost(mask, setting_of(mask), "decoder", 512, 3)
        assert (card["words"], card["source"]) == (mask.help, mask.source)
        assert list(card["figures"]) == figures(left, "decoder", 512)


def test_a_link_with_a_prefix_for_an_encoder_is_refused_and_nothing_is_lost():
    app = masks_page(mask_kind="encoder", edits="prefix.encoder.3")
    assert edits_of(app) == Edits()
    app = masks_page(mask_kind="encoder", edits="documents.encoder.200~window.encoder.120")
    assert not app.exception
    assert len(edits_of(app).masks) == 2


@pytest.mark.parametrize("together", ["all", "any", "only"])
def test_the_weights_on_the_page_are_those_of_the_model_with_these_masks(together, shipped):
    edits = Edits(
        masks={("global", "decoder"): (1, 1), ("strided", "decoder", "even"): (2,)},
        together=together,
    )
    text = "global.decoder.1.1~strided.decoder-even.2" + (
        "" if together == "all" else f"~masks.{together}"
    )
    app = masks_page(mask_kind="decoder", layer="2", edits=text)
    assert edits_of(app) == edits
    trace = shipped.trace(
        SENTENCE, shipped.translate(SENTENCE), edits=edits.at_sites(shipped.shape, 60)
    )
    header, data = next(
        (header, data) for header, data in canvas_pictures(app) if header.get("editable")
    )
    visible = trace.attention[Site("decoder", 1)].masked_scores[0, 0].isfinite()
    drawn = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(visible.shape)
    assert torch.equal((drawn & 1).bool(), visible)
    assert header["queries"]
