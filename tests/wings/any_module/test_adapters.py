"""A PeftModel in memory, by a stand-in that wraps layers as peft does: what it holds is opened."""

import pytest
import torch
import transformers
from torch import nn
from torch.testing import assert_close

from headlight.model.library.hub import LoadingError
from headlight.model.transformer.trace import Site
from headlight.wings.any_module.opening import open_model

TEXT = "I love my cat."
# For each: its class, the layers with adapters, and the layer that reads the heads of layer 1.
MODELS = {
    "GPT-2": ("GPT2LMHeadModel", ("c_attn", "c_proj"), "transformer.h.0.attn.c_proj"),
    "Llama": ("LlamaForCausalLM", ("q_proj", "o_proj"), "model.layers.0.self_attn.o_proj"),
    "classes": ("DistilBertForSequenceClassification", ("q_lin", "out_lin"),
                "distilbert.transformer.layer.0.attention.out_lin"),
}  # fmt: skip


class Adapted(nn.Module):
    """A layer with a low-rank adapter, whose `weight` is that of the layer alone, as peft's."""

    def __init__(self, base_layer, rank=2):
        super().__init__()
        self.base_layer = base_layer
        size, made = base_layer.weight.shape
        size, made = (made, size) if isinstance(base_layer, nn.Linear) else (size, made)
        self.lora_A = nn.ModuleDict({"default": nn.Linear(size, rank, bias=False)})
        self.lora_B = nn.ModuleDict({"default": nn.Linear(rank, made, bias=False)})
        self.bent = False

    @property
    def weight(self):
        return self.base_layer.weight

    @property
    def bias(self):
        return self.base_layer.bias

    def forward(self, numbers):
        added = self.lora_B["default"](self.lora_A["default"](numbers))
        return self.base_layer(numbers) + (added.relu() if self.bent else added)


class Tuner(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model


class PeftModel(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.base_model = Tuner(model)

    def get_base_model(self):
        return self.base_model.model

    def forward(self, *args, **kwargs):
        return self.get_base_model()(*args, **kwargs)


@pytest.fixture
def made(transformers_folders):
    """A function from a name to a model with adapters and its tokenizer."""

    def make(name):
        folder, (kind, adapted, _) = transformers_folders[name], MODELS[name]
        model = getattr(transformers, kind).from_pretrained(folder)
        torch.manual_seed(3)
        for place, part in [*model.named_modules()]:
            if place.endswith(adapted):
                model.set_submodule(place, Adapted(part))
        return PeftModel(model).eval(), transformers.AutoTokenizer.from_pretrained(folder)

    return make


@pytest.mark.parametrize("name", MODELS)
def test_it_opens_as_what_it_holds_with_its_adapters(name, made):
    model, tokenizer = made(name)
    before = {key: part.clone() for key, part in model.state_dict().items()}
    reader = open_model(model, tokenizer)
    assert reader.title == MODELS[name][0]
    trace = reader.trace(TEXT)
    with torch.inference_mode():
        expected = model(**tokenizer(TEXT, return_tensors="pt")).logits
    logits = trace.logits[:, 0] if name == "classes" else trace.logits
    assert_close(logits, expected, atol=1e-5, rtol=1e-4)
    after = model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(part, after[key]) for key, part in before.items())
    assert ("write" in reader.missing) == (name == "classes")


@pytest.mark.parametrize("name", MODELS)
def test_what_a_head_adds_is_what_the_adapted_layer_gives(name, made):
    model, tokenizer = made(name)
    reader = open_model(model, tokenizer)
    site = Site("encoder" if name == "classes" else "decoder", 0)
    heads = reader.trace(TEXT).attention[site].heads[0]  # (H, Q, D)
    added = torch.einsum("hqd,hdm->qm", heads, reader.heads_to_stream(site))
    layer = model.get_base_model().get_submodule(MODELS[name][2])
    bias = 0 if layer.bias is None else layer.bias
    with torch.inference_mode():
        expected = layer(heads.transpose(0, 1).flatten(1)) - bias
    assert_close(added, expected, atol=1e-5, rtol=1e-4)


def test_what_cannot_be_merged_is_said(made):
    model, tokenizer = made("GPT-2")
    held = model.get_base_model()
    held.get_submodule("transformer.h.0.attn.c_proj").bent = True
    with pytest.raises(LoadingError, match=r"h\.0\.attn\.c_proj are not linear.*merge_and_unload"):
        open_model(model, tokenizer)
    model, tokenizer = made("GPT-2")
    held = model.get_base_model()
    held.transformer.wpe = Adapted(held.transformer.wpe)
    with pytest.raises(LoadingError, match="wpe, a Embedding, has adapters"):
        open_model(model, tokenizer)
    model, tokenizer = made("GPT-2")
    model.prompt_encoder = nn.ModuleDict({"default": nn.Embedding(3, 16)})
    with pytest.raises(LoadingError, match="learned prompts beside the model"):
        open_model(model, tokenizer)
