"""Every mask at every step of a cached decoding, against a pass over what had been read."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits import EXTRA, Edits
from headlight.model.transformer.trace import Site
from tests.model.library.conftest import load, transformers_folders

__all__ = ["load", "transformers_folders"]

TEXT, LONGEST = "The old house is on the hill.", 7
DECODER_MASKS = [name for name, mask in EXTRA.items() if "decoder" in mask.kinds]


def check(reader, edits):
    """Compare each step with a trace of the tokens that were written before it."""
    decoding = reader.write(TEXT, longest=LONGEST, edits=edits)
    made = decoding.writing
    for count, step in enumerate(decoding.steps):
        before = replace(made, target_tokens=made.target_tokens[:count], finished=False)
        trace = reader.trace(TEXT, before, edits=edits)
        expected = trace.logits[0, -1].log_softmax(dim=-1)
        assert len(trace.target_tokens) == len(step.read)
        said = step.log_probabilities.isfinite()  # special tokens are never written
        assert_close(step.log_probabilities[said], expected[said], atol=2e-4, rtol=1e-4)
        for site, visible in step.visible.items():
            if site.kind == "decoder":
                closed = trace.attention[site].masked_scores[0, :, -1].isneginf()
                assert torch.equal(visible, ~closed)


@pytest.mark.parametrize("name", DECODER_MASKS)
def test_a_mask_of_the_decoder_is_in_force_at_every_step(name, load):
    reader = load("Llama")
    edits = Edits(masks={(name, "decoder"): EXTRA[name].offered[0]})
    check(reader, edits.at_sites(reader.shape, 40))


@pytest.mark.matrix
@pytest.mark.parametrize("model", ["GPT-2", "T5"])
@pytest.mark.parametrize("name", DECODER_MASKS)
def test_a_mask_is_in_force_at_every_step_of_other_models(name, model, load):
    reader = load(model)
    if reader.missing.keys() & {*EXTRA[name].needs}:
        pytest.skip(f"{model} cannot take this mask.")
    layers = "all" if EXTRA[name].positions else 0
    edits = Edits(masks={(name, "decoder", layers): EXTRA[name].offered[-1]})
    check(reader, edits.at_sites(reader.shape, 40))


@pytest.mark.parametrize("name", ["documents-anew", "prefix", "distance"])
def test_a_mask_is_in_force_at_every_step_of_our_own_model(name, translator):
    edits = Edits(masks={(name, "decoder"): (2,)})
    check(translator, edits.at_sites(translator.shape, 40))


def test_a_query_that_sees_nothing_writes_zeros_at_its_step(load):
    reader = load("Llama")
    masks = {("behind", "decoder"): (1,), ("distance", "decoder"): (1,)}
    closed = Edits(masks=masks).at_sites(reader.shape, 40)
    size = 40
    closed = {
        site: replace(edit, block=torch.ones(size, size, dtype=torch.bool))
        for site, edit in closed.items()
    }
    for step in reader.write(TEXT, longest=3, edits=closed).steps:
        assert not step.weights[Site("decoder", 0)].any()
        assert step.log_probabilities.isfinite().all()
