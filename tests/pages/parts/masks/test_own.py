"""The masks of each layer on the page, what is said about masks in force, and the lesson."""

import numpy as np
import pytest
import torch

from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.library.transformers_reader import TransformersReader
from headlight.model.transformer.trace import Site
from tests.pages.apps import open_page, open_with
from tests.pages.pictures import canvas_pictures

TEXT = "I love my cat and my dog."


def words(app):
    parts = (*app.markdown, *app.caption, *app.info, *app.warning)
    return " ".join(part.value for part in parts)


def test_every_mask_is_drawn_with_its_layers_and_its_configuration(mixed_folder):
    app = open_with(mixed_folder, "masks", sentence=TEXT, masks_tab="trained")
    said = words(app)
    assert "**Decoder, layer 1**: look-ahead mask and window behind of 4" in said
    assert "**Decoder, layer 2**: look-ahead mask" in said
    drawn = {header["label"]: data for header, data in canvas_pictures(app) if "label" in header}
    trace = load_transformers_reader(mixed_folder).trace(TEXT)
    for layer in (0, 1):
        visible = trace.attention[Site("decoder", layer)].masked_scores[0, 0].isfinite()
        states = np.frombuffer(drawn[f"Decoder, layer {layer + 1}"], np.uint8)
        assert torch.equal(torch.from_numpy(states.copy() == 1).view(visible.shape), visible)
    assert "In every layer the run used the mask that the configuration names." in said
    assert f"can draw on {len(visible)} of {len(visible)} tokens" in said


def test_a_run_that_differs_from_its_configuration_is_said(mixed_folder, monkeypatch):
    named = (("look-ahead", ()), ("behind", (2,)))
    monkeypatch.setattr(TransformersReader, "configured_masks", lambda reader, site: named)
    app = open_with(mixed_folder, "masks", sentence=TEXT, masks_tab="trained")
    count = len(load_transformers_reader(mixed_folder).trace(TEXT).target_tokens)
    more = (count - 2) * (count - 1) // 2  # that the layer without a window sees
    assert f"{more} cells of this run's mask differ" in words(app)
    assert "In every layer the run did" not in words(app)


def test_heads_that_share_keys_are_groups_on_every_page(mixed_folder):
    found = {}
    for page, name in (("attention", "strongest"), ("heads", "kinds"), ("decoding", "tables")):
        app = open_with(mixed_folder, page, sentence=TEXT)
        found[page] = next(header for header, _ in canvas_pictures(app) if name in header)
    assert found["attention"]["group"] == found["heads"]["kinds"][0]["group"] == 2
    groups = ["once for heads 1–2", "once for heads 3–4"]
    assert found["decoding"]["tables"][0]["groups"] == groups


def test_what_is_written_with_few_keys_is_shown_with_the_place_where_it_breaks(mixed_folder):
    app = open_with(
        mixed_folder, "decoding", sentence=TEXT, eviction="window", kept_keys="1", longest="6"
    )
    assert not app.exception
    assert any("in each head the text" in text.value for text in app.text)
    tables = [header["tables"] for header, _ in canvas_pictures(app) if "tables" in header]
    assert tables[-1][0]["rows"] == ["head 1", "head 2", "head 3", "head 4"]


@pytest.mark.parametrize(
    ("edits", "sentence"),
    [
        ("documents.encoder.200", "Packed documents: 200: this changes nothing on a text of"),
        ("window.encoder.120", "Local window: 120: this changes nothing on a text of"),
        ("close.encoder.all.all.3.1-60", "Query 3 sees no key in 8 heads of this layer."),
    ],
)
def test_masks_without_effect_and_rows_without_keys_are_said(edits, sentence):
    app = open_page("masks", sentence="I love my cat.", mask_kind="encoder", edits=edits)
    assert not app.exception
    assert sentence in words(app)


def test_a_row_is_summed_up_as_the_softmax_of_the_page(shipped):
    app = open_page("masks", sentence=TEXT, mask_kind="decoder", masks_tab="flash", flash_block="3")
    assert not app.exception
    figures = {metric.label: metric.value for metric in app.metric}
    assert float(figures["Difference from the softmax's weights"]) < 1e-6
    assert figures["Never stored, for 4,096 tokens"] == "134.2 MB"
    header, _ = next(found for found in canvas_pictures(app) if "tables" in found[0])
    assert len(header["steps"]) == -(-len(header["tables"][0]["columns"]) // 3)
    assert header["steps"][-1].startswith(f"Block {len(header['steps'])}: maximum")
