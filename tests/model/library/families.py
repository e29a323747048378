"""Tiny random models of the families that attend through the interface of transformers."""

import torch
import transformers

from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site

VOCABULARY, END, PAD = 60, 1, 0
IDS = {"vocab_size": VOCABULARY, "pad_token_id": PAD, "bos_token_id": 2, "eos_token_id": END}
BERT = IDS | {
    "hidden_size": 24, "intermediate_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4,
    "max_position_embeddings": 64,
}  # fmt: skip
LLAMA = BERT | {"num_key_value_heads": 2}
WIDE = LLAMA | {"head_dim": 8}  # heads wider than their share of the stream
BART = IDS | {
    "d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4,
    "decoder_attention_heads": 3, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32,
    "max_position_embeddings": 64, "decoder_start_token_id": END, "forced_eos_token_id": None,
}  # fmt: skip
T5 = IDS | {
    "d_model": 24, "d_kv": 5, "d_ff": 32, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 4,
    "decoder_start_token_id": PAD,
}  # fmt: skip
DISTILBERT = IDS | {"dim": 24, "n_layers": 3, "n_heads": 4, "hidden_dim": 32}
GPT2 = IDS | {"n_embd": 24, "n_layer": 3, "n_head": 4, "n_positions": 64}
OPT = {**BERT, "ffn_dim": 32, "word_embed_proj_dim": 24}

ENCODERS = {
    "BERT": ("BertForMaskedLM", "BertConfig", BERT),
    "RoBERTa": ("RobertaForMaskedLM", "RobertaConfig", BERT),
    "DistilBERT": ("DistilBertForMaskedLM", "DistilBertConfig", DISTILBERT),
    "ALBERT": ("AlbertForMaskedLM", "AlbertConfig", BERT | {"embedding_size": 12}),
    "ModernBERT": (
        "ModernBertForMaskedLM", "ModernBertConfig",
        BERT | {"local_attention": 6, "cls_token_id": 2, "sep_token_id": 1},
    ),
}  # fmt: skip
DECODERS = {
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "Llama": ("LlamaForCausalLM", "LlamaConfig", LLAMA),
    "Qwen2": ("Qwen2ForCausalLM", "Qwen2Config", LLAMA),
    "Qwen3": ("Qwen3ForCausalLM", "Qwen3Config", WIDE),
    "Mistral": ("MistralForCausalLM", "MistralConfig", LLAMA | {"sliding_window": 4}),
    "Gemma 2": (
        "Gemma2ForCausalLM", "Gemma2Config",
        WIDE | {"sliding_window": 4, "attn_logit_softcapping": 1.0, "query_pre_attn_scalar": 8},
    ),
    "Gemma 3": (
        "Gemma3ForCausalLM", "Gemma3TextConfig",
        WIDE | {"sliding_window": 4, "query_pre_attn_scalar": 3},
    ),
    "GPT-OSS": (
        "GptOssForCausalLM", "GptOssConfig",
        WIDE | {"sliding_window": 4, "num_local_experts": 2, "num_experts_per_tok": 1},
    ),
    "GPT-NeoX": ("GPTNeoXForCausalLM", "GPTNeoXConfig", BERT),
    "OPT": ("OPTForCausalLM", "OPTConfig", OPT),
    "Phi-3": ("Phi3ForCausalLM", "Phi3Config", LLAMA),
}  # fmt: skip
PAIRS = {
    "Marian": ("MarianMTModel", "MarianConfig", BART),
    "BART": ("BartForConditionalGeneration", "BartConfig", BART),
    "mBART": ("MBartForConditionalGeneration", "MBartConfig", BART),
    "M2M100": ("M2M100ForConditionalGeneration", "M2M100Config", BART),
    "Pegasus": ("PegasusForConditionalGeneration", "PegasusConfig", BART),
    "T5": ("T5ForConditionalGeneration", "T5Config", T5),
}
FAMILIES = {**ENCODERS, **DECODERS, **PAIRS}


def make_model(name, attention="eager"):
    """The same model at each call, far enough from zero that a changed weight is seen."""
    model, config, options = FAMILIES[name]
    torch.manual_seed(1)
    config = getattr(transformers, config)(**options)
    config._attn_implementation = attention
    made = getattr(transformers, model)(config).eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return made


def make_inputs(name, rows=1, length=11):
    """Random ids, for the decoder too if the model has both."""
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(3, VOCABULARY, (rows, length), generator=generator)
    return {"input_ids": ids} | ({"decoder_input_ids": ids[:, 1:9]} if name in PAIRS else {})


def traced(name, attached, edits=None, full=None, **inputs):
    """The logits and the trace of a family's model on its inputs, or on others."""
    model, attachment = attached(name)
    trace = Trace(full=full)
    with torch.inference_mode(), attachment.watching(Run(edits or {}, trace)):
        logits = model(**(inputs or make_inputs(name))).logits
    return logits, trace


def eager(name):
    """What the library's own attention returns."""
    with torch.inference_mode():
        return make_model(name)(**make_inputs(name), output_attentions=True)


def kinds(name):
    if name in PAIRS:
        return {"encoder": "encoder", "decoder": "decoder", "cross": "cross"}
    return {"encoder": ""} if name in ENCODERS else {"decoder": ""}


def a_site(name, kind=None):
    """A site in the middle of a model."""
    return Site(kind or list(kinds(name))[-1], 1)
