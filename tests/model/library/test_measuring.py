"""What loading measures on texts beyond a model's windows, and what it makes of a difference."""

import pytest
import torch
import transformers
from torch.nn import functional as F

from headlight.model.library import measuring
from headlight.model.library.hub import LoadingError
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.transformers_loading import (
    BEYOND,
    attach_somehow,
    compared_texts,
    load_transformers_reader,
)
from headlight.model.transformer.trace import Run, Site

pytestmark = pytest.mark.usefixtures("one_thread")

SIZE = {
    "vocab_size": 400, "hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "intermediate_size": 20, "max_position_embeddings": 200,
}  # fmt: skip
WINDOWED = SIZE | {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 8}
T5 = {"vocab_size": 400, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_heads": 3, "num_layers": 2,
      "decoder_start_token_id": 0}  # fmt: skip
BIG_BIRD = SIZE | {"block_size": 4, "num_random_blocks": 1}
# Its layers attend to the tokens, and to one more key for every 16 of them.
COMPRESSED = WINDOWED | {
    "layer_types": ["heavily_compressed_attention"] * 3,
    "compress_rates": {"heavily_compressed_attention": 16, "compressed_sparse_attention": 4},
    "q_lora_rank": 8, "o_lora_rank": 8, "o_groups": 2, "n_routed_experts": 4, "index_n_heads": 2,
    "num_experts_per_tok": 2, "moe_intermediate_size": 20, "num_key_value_heads": 1,
}  # fmt: skip


def build(name, options):
    """A model whose attention is not flat, by its class."""
    kind = getattr(transformers, name)
    config = kind.config_class(**options)
    config._attn_implementation = "eager"
    torch.manual_seed(1)
    model = kind(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            drawn = torch.randn(weight.shape)
            if weight.dim() > 1:
                weight.copy_(drawn * 1.4 * weight.size(-1) ** -0.5)
            else:
                weight.add_(0.2 * drawn)
    return model


@pytest.fixture(scope="module")
def load(tmp_path_factory, transformers_folders):
    def get(name, options, tokenizer):
        folder = tmp_path_factory.mktemp("model")
        build(name, options).save_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(transformers_folders[tokenizer])
        tokenizer.save_pretrained(folder)
        return load_transformers_reader(folder)

    return get


def texts_of(model, folder):
    tokens = PieceTokenizer(transformers.AutoTokenizer.from_pretrained(folder), 200, 400)
    return compared_texts(model, tokens)


@pytest.mark.parametrize(
    ("name", "options", "longest"),
    [
        ("GPT2LMHeadModel", {"vocab_size": 400, "n_embd": 16, "n_layer": 1, "n_head": 2}, None),
        ("MistralForCausalLM", WINDOWED, 8 + BEYOND),
        ("MistralForCausalLM", WINDOWED | {"sliding_window": 195}, 200),
        ("MistralForCausalLM", WINDOWED | {"sliding_window": 4096}, None),
        ("DeepseekV4ForCausalLM", COMPRESSED, 16 + BEYOND),
    ],
)
def test_texts_go_beyond_what_is_within_the_limit(name, options, longest, transformers_folders):
    short, *longer = texts_of(build(name, options), transformers_folders["GPT-2"])
    assert short["input_ids"].size(1) >= 3
    assert [text["input_ids"].size(1) for text in longer] == ([longest] if longest else [])


def test_parity_is_the_largest_of_all_texts(transformers_folders, monkeypatch):
    model = build("MistralForCausalLM", WINDOWED)
    texts = texts_of(model, transformers_folders["GPT-2"])
    real = measuring.difference

    def differ(ours, theirs):
        return 2e-4 if ours.size(-2) == 8 + BEYOND else real(ours, theirs)

    monkeypatch.setattr(measuring, "difference", differ)
    assert attach_somehow(model, texts, "Mine").parity == (2e-4, 2e-4)


def test_model_that_looks_at_more_than_its_tokens_is_refused(transformers_folders):
    model = build("DeepseekV4ForCausalLM", COMPRESSED)
    with pytest.raises(LoadingError, match=r"deepseek_v4.*Choose a"):
        attach_somehow(model, texts_of(model, transformers_folders["GPT-2"]), "Mine")


def test_steps_that_the_library_gets_wrong_with_a_cache_are_written_without(load):
    reader = load("T5ForConditionalGeneration", T5 | {"num_decoder_layers": 4}, "T5")
    assert reader.model.config.use_cache is False
    trace = reader.trace("I love my cat.")
    assert len(trace.target_tokens) > 1
    steps = reader.write("I love my cat.", longest=6)
    rows = trace.logits[0].log_softmax(dim=-1)
    for step, row in zip(steps, rows, strict=False):
        torch.testing.assert_close(step.log_probabilities, row, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(("broken", "cache"), [("cached", False), ("all", False), ("none", True)])
def test_what_fails_is_not_shown(broken, cache, transformers_folders, monkeypatch):
    model = build("MistralForCausalLM", WINDOWED)
    real = measuring.steps_agree

    def agree(attached, model, *rest):
        wrong = broken == "all" or (broken == "cached" and model.config.use_cache)
        return not wrong and real(attached, model, *rest)

    monkeypatch.setattr(measuring, "steps_agree", agree)
    attached = attach_somehow(model, texts_of(model, transformers_folders["GPT-2"]), "Mine")
    assert (model.config.use_cache, attached.writes) == (cache, broken != "all")


def test_big_bird_reads_what_it_attends_to_without_blocks(load):
    reader = load("BigBirdForMaskedLM", BIG_BIRD, "RoBERTa")
    assert reader.shape.max_positions == (5 + 2) * 4
    trace = reader.trace("I love my cat. " * 20)
    plain = build("BigBirdForMaskedLM", BIG_BIRD)  # in blocks until it reads a short text
    ids = torch.tensor([[piece.id for piece in trace.source_tokens]])
    with torch.inference_mode():
        plain(ids)
        expected = plain(ids, output_attentions=True)
    assert len(ids[0]) == 28
    torch.testing.assert_close(trace.weights("encoder"), torch.cat(expected.attentions))
    states = reader.calls(trace, Run())["logits"]
    torch.testing.assert_close(states, expected.logits, atol=1e-5, rtol=1e-5)


def test_squeezebert_which_returns_scores_is_compared_by_its_softmax(load, monkeypatch):
    sizes = {"embedding_size": 32, "q_groups": 2, "k_groups": 2, "v_groups": 2,
             "intermediate_groups": 2, "output_groups": 2, "post_attention_groups": 2}  # fmt: skip
    reader = load("SqueezeBertForMaskedLM", SIZE | sizes, "RoBERTa")
    assert reader.parity() == (0, 0)
    trace, softmaxes, returned = reader.trace("I love my cat."), F.softmax, []

    def kept(*arguments, **options):
        returned.append(softmaxes(*arguments, **options))
        return returned[-1]

    monkeypatch.setattr(F, "softmax", kept)
    plain = build("SqueezeBertForMaskedLM", SIZE | sizes)
    with torch.inference_mode():
        plain(torch.tensor([[piece.id for piece in trace.source_tokens]]))
    assert len(returned) == 3
    for layer, weights in enumerate(returned):
        torch.testing.assert_close(trace.attention[Site("encoder", layer)].weights, weights)


def test_steps_are_found_wrong_if_their_columns_are_shifted(transformers_folders, monkeypatch):
    model = build("DogeForCausalLM", WINDOWED | {"keep_window_size": 64})
    texts = texts_of(model, transformers_folders["GPT-2"])
    assert attach_somehow(model, texts, "Mine").writes
    model = build("DogeForCausalLM", WINDOWED | {"keep_window_size": 64})
    monkeypatch.setattr(
        "headlight.model.library.foreign_code.from_position_0", lambda record, _: record
    )
    attached = attach_somehow(model, texts, "Mine")
    assert model.config.use_cache is False
    assert attached.writes
