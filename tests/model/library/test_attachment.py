"""Which models attend by the interface in all of their layers, and where."""

import pytest
import torch
import transformers

from headlight.model.library import measuring
from headlight.model.library.attachment import attach, kind_of
from headlight.model.library.hub import LoadingError
from headlight.model.library.transformers_loading import attach_somehow
from headlight.model.transformer.trace import Site
from tests.model.library.families import LLAMA, PAIRS, T5, VOCABULARY, make_inputs, make_model

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
    "prophetnet": ("ProphetNetForConditionalGeneration", "ProphetNetConfig", {
        "vocab_size": VOCABULARY, "hidden_size": 16, "num_encoder_layers": 2,
        "num_decoder_layers": 3, "num_encoder_attention_heads": 4,
        "num_decoder_attention_heads": 4, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20,
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_a_model_that_does_not_attend_by_name_in_all_layers(name):
    model, config, options = OTHERS[name]
    torch.manual_seed(0)
    model = getattr(transformers, model)(getattr(transformers, config)(**options)).eval()
    model.set_attn_implementation("eager")
    inputs = make_inputs("T5" if model.config.is_encoder_decoder else "GPT-2")
    with pytest.raises(LoadingError, match=f"type {name}, and not all of its layers attend"):
        attach(model, inputs, "Mine")


def test_encoder_and_decoder_with_configs_of_their_own():
    sizes = LLAMA | {"head_dim": 8, "sliding_window": 4}
    parts = {
        side: transformers.T5GemmaModuleConfig(**sizes | {"num_hidden_layers": layers})
        for side, layers in (("encoder", 2), ("decoder", 3))
    }
    model = transformers.T5GemmaForConditionalGeneration(
        transformers.T5GemmaConfig(**parts, attn_implementation="eager", vocab_size=VOCABULARY)
    )
    attachment = attach(model.eval(), make_inputs("T5"), "Mine")
    assert attachment.kinds == {"encoder": (2, 4), "decoder": (3, 4), "cross": (3, 4)}


@pytest.mark.parametrize("by", [0.5, float("nan")])
def test_a_model_whose_attention_is_another(by, monkeypatch):
    monkeypatch.setattr(measuring, "difference", lambda ours, theirs: by)
    with pytest.raises(LoadingError, match=f"gpt2, whose attention .* differences of up to {by} "):
        attach(make_model("GPT-2"), make_inputs("GPT-2"), "Mine")


def test_the_reason_is_the_one_of_the_attempt_that_came_further(monkeypatch):
    monkeypatch.setattr(measuring, "difference", lambda ours, theirs: 0.5)
    with pytest.raises(LoadingError, match=r"gpt_oss, whose attention .* differences"):
        attach_somehow(make_model("GPT-OSS"), [make_inputs("GPT-OSS")], "Mine")


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
