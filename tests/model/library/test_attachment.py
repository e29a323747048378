"""Which models attend by the interface in all of their layers, and where."""

import pytest
import torch
import transformers

from model.library import attachment
from model.library.attachment import attach, kind_of
from model.library.hub import LoadingError
from model.trace import Site
from tests.model.library.families import PAIRS, T5, VOCABULARY, make_inputs, make_model

SIZE = {
    "vocab_size": VOCABULARY, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
    "pad_token_id": 0,
}  # fmt: skip
OTHERS = {
    "deberta-v2": ("DebertaV2ForMaskedLM", "DebertaV2Config", SIZE | {"intermediate_size": 20}),
    "bloom": ("BloomForCausalLM", "BloomConfig",
              {"vocab_size": VOCABULARY, "hidden_size": 16, "n_layer": 2, "n_head": 4}),
    "mamba": ("MambaForCausalLM", "MambaConfig",
              {"vocab_size": VOCABULARY, "hidden_size": 16, "num_hidden_layers": 2}),
    "longt5": ("LongT5ForConditionalGeneration", "LongT5Config", T5),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_model_that_does_not_attend_by_name_in_all_layers(name):
    model, config, options = OTHERS[name]
    torch.manual_seed(0)
    model = getattr(transformers, model)(getattr(transformers, config)(**options)).eval()
    model.set_attn_implementation("eager")
    inputs = make_inputs("T5" if name == "longt5" else "GPT-2")
    with pytest.raises(LoadingError, match=f"type {name}, and not all of its layers attend"):
        attach(model, inputs, "Mine")


@pytest.mark.parametrize("by", [0.5, float("nan")])
def test_a_model_whose_attention_is_another(by, monkeypatch):
    monkeypatch.setattr(attachment, "difference", lambda ours, theirs: by)
    with pytest.raises(LoadingError, match=f"gpt2, whose attention differs .* by {by}. Choose"):
        attach(make_model("GPT-2"), make_inputs("GPT-2"), "Mine")


def test_a_module_of_several_layers_has_several_sites(attached):
    _, attachment = attached("ALBERT")
    (sites,) = attachment.sites.modules.values()
    assert sites == [Site("encoder", layer) for layer in range(3)]
    _, attachment = attached("BERT")
    assert all(len(sites) == 1 for sites in attachment.sites.modules.values())


@pytest.mark.parametrize("name", PAIRS)
def test_sites_are_numbered_from_the_first_layer_on(name, attached):
    model, attachment = attached(name)
    names = {module: place for place, module in model.named_modules()}
    for module, (site,) in attachment.sites.modules.items():
        place = names[module]
        assert kind_of(place, encoder_decoder=True) == site.kind
        assert next(int(part) for part in place.split(".") if part.isdigit()) == site.layer
        assert ("decoder" in place.split(".")) == (site.kind != "encoder")
