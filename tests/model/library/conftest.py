"""Tiny random models of the transformers library, as folders with their tokenizers."""

import pytest
import tokenizers
import torch
import transformers
from tokenizers import decoders, models, pre_tokenizers, processors, trainers

from headlight.model.library.attachment import attach
from headlight.model.library.transformers_loading import load_transformers_reader
from tests.model.library.families import make_inputs, make_model

END, PAD = 1, 0
SPECIAL = ["<pad>", "</s>", "<unk>", "<mask>", "<s>"]
PAIR = {
    "single": "<s> $A </s>",
    "pair": "<s> $A </s> $B:1 </s>:1",
    "special_tokens": [("<s>", 4), ("</s>", END)],
}
END_ONLY = {"single": "$A </s>", "special_tokens": [("</s>", END)]}

SIZE = {
    "vocab_size": 400, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 20, "max_position_embeddings": 40, "pad_token_id": PAD,
    "bos_token_id": 4, "eos_token_id": END,
}  # fmt: skip
LATENT = SIZE | {
    "num_key_value_heads": 4, "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4,
    "qk_nope_head_dim": 6, "v_head_dim": 5, "n_routed_experts": 4, "n_group": 1, "topk_group": 1,
    "num_experts_per_tok": 1, "moe_intermediate_size": 12, "first_k_dense_replace": 1,
    "n_shared_experts": 1, "head_dim": 4,
}  # fmt: skip
BART = {
    "vocab_size": 400, "d_model": 16, "encoder_layers": 2, "decoder_layers": 3,
    "encoder_attention_heads": 2, "decoder_attention_heads": 4, "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20, "max_position_embeddings": 40, "pad_token_id": PAD, "bos_token_id": PAD,
    "eos_token_id": END, "decoder_start_token_id": END, "forced_eos_token_id": None,
}  # fmt: skip
T5 = {
    "vocab_size": 400, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_heads": 3,
    "num_decoder_layers": 1, "decoder_start_token_id": 4, "pad_token_id": PAD,
    "eos_token_id": END,
}  # fmt: skip
GPT2 = {
    "vocab_size": 400, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 40,
    "bos_token_id": END, "eos_token_id": END,
}  # fmt: skip
ELECTRA = SIZE | {"embedding_size": 8}
# For each: the class it is saved by, its config, and what its tokenizer puts around a text.
FOLDERS = {
    "T5": ("T5ForConditionalGeneration", "T5Config", T5, END_ONLY),
    "BART": ("BartForConditionalGeneration", "BartConfig", BART, END_ONLY),
    "Marian": ("MarianMTModel", "MarianConfig", BART | {"decoder_start_token_id": PAD}, END_ONLY),
    "M2M100": ("M2M100ForConditionalGeneration", "M2M100Config", BART, END_ONLY),
    "GPT-2": ("GPT2LMHeadModel", "GPT2Config", GPT2, None),
    "Llama": ("LlamaForCausalLM", "LlamaConfig", SIZE | {"num_key_value_heads": 2}, None),
    "DistilBERT": (
        "DistilBertForMaskedLM", "DistilBertConfig",
        {"vocab_size": 400, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 20,
         "max_position_embeddings": 40, "pad_token_id": PAD}, PAIR,
    ),
    "ALBERT": ("AlbertForMaskedLM", "AlbertConfig", SIZE | {"embedding_size": 8}, PAIR),
    "RoBERTa": ("RobertaForMaskedLM", "RobertaConfig", SIZE, PAIR),
    "headless": ("ElectraModel", "ElectraConfig", ELECTRA, PAIR),
    "classes": (
        "DistilBertForSequenceClassification", "DistilBertConfig",
        {"vocab_size": 400, "dim": 16, "n_layers": 2, "n_heads": 4, "hidden_dim": 20,
         "max_position_embeddings": 40, "id2label": {0: "sad", 1: "so so", 2: "glad"},
         "label2id": {"sad": 0, "so so": 1, "glad": 2}}, PAIR,
    ),
    "score": (
        "ElectraForSequenceClassification", "ElectraConfig", ELECTRA | {"num_labels": 1}, PAIR,
    ),
    "labels": (
        "ElectraForSequenceClassification", "ElectraConfig",
        ELECTRA | {"problem_type": "multi_label_classification",
                   "id2label": {0: "rude", 1: "short", 2: "kind"},
                   "label2id": {"rude": 0, "short": 1, "kind": 2}}, PAIR,
    ),
    "tags": (
        "ElectraForTokenClassification", "ElectraConfig",
        ELECTRA | {"id2label": {0: "O", 1: "PER", 2: "LOC"},
                   "label2id": {"O": 0, "PER": 1, "LOC": 2}}, PAIR,
    ),
    "spans": ("BertForQuestionAnswering", "BertConfig", SIZE, PAIR),
    "classes by a decoder": (
        "GPT2ForSequenceClassification", "GPT2Config", GPT2 | {"num_labels": 3}, None,
    ),
}  # fmt: skip


def save_tokenizer(folder, texts, *, template, byte_level):
    """A trained tokenizer whose words begin with a sign for the space before them."""
    backend = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
    if byte_level:
        backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        backend.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
    else:
        backend.pre_tokenizer = pre_tokenizers.Metaspace()
        backend.decoder = decoders.Metaspace()
        alphabet = []
    backend.train_from_iterator(
        texts * 3,
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
        ),
    )
    names = {"unk_token": "<unk>", "mask_token": "<mask>"}
    if template:
        backend.post_processor = processors.TemplateProcessing(**template)
        names |= {"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>"}
    if template is PAIR:
        names["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **names)
    tokenizer.save_pretrained(folder)


def save_model(folder, texts, model, config, options, template):
    """A model as transformers saves it, random but the same at each call, with its tokenizer."""
    torch.manual_seed(2)
    built = getattr(transformers, model)(getattr(transformers, config)(**options))
    with torch.no_grad():  # far enough from zero that a changed weight is seen
        for parameter in built.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    built.save_pretrained(folder)
    save_tokenizer(folder, texts, template=template, byte_level=template is None)


@pytest.fixture(scope="session")
def transformers_folders(tmp_path_factory, pairs):
    """The folder of each model, by its name in FOLDERS."""
    texts = [text for pair in pairs for text in pair]
    made = {name: tmp_path_factory.mktemp(name) for name in FOLDERS}
    for name, folder in made.items():
        save_model(folder, texts, *FOLDERS[name])
    return made


@pytest.fixture(scope="session")
def mixed_folder(tmp_path_factory, pairs):
    """The folder of a model whose first layer has a window of four; two heads share a key."""
    folder = tmp_path_factory.mktemp("mixed")
    options = {"sliding_window": 4, "num_key_value_heads": 2, "head_dim": 4}
    options["layer_types"] = ["sliding_attention", "full_attention"]
    texts = [text for pair in pairs for text in pair]
    save_model(folder, texts, "Gemma3ForCausalLM", "Gemma3TextConfig", SIZE | options, None)
    return folder


@pytest.fixture(scope="module")
def one_thread():
    """Tiny products are faster on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session")
def attached():
    """A function from a family to its model and how it is attached."""
    made = {}

    def get(name):
        if name not in made:
            model = make_model(name)
            made[name] = model, attach(model, make_inputs(name), name)
        return made[name]

    return get


@pytest.fixture(scope="session")
def load(transformers_folders):
    """A function from the name of a tiny model to its reader."""
    loaded = {}

    def get(name):
        if name not in loaded:
            loaded[name] = load_transformers_reader(transformers_folders[name])
        return loaded[name]

    return get
