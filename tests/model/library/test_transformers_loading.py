"""Which models of the transformers library are loaded, and why others are not."""

import json
import os
import struct

import pytest
import torch
import transformers

from headlight.model import memory
from headlight.model.library.files import count_numbers
from headlight.model.library.hub import LoadingError
from headlight.model.library.loading import load_model
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.memory import check_memory, free_memory

SIZE = {
    "vocab_size": 400, "hidden_size": 16, "num_hidden_layers": 4, "num_attention_heads": 4,
    "intermediate_size": 20, "num_key_value_heads": 2, "head_dim": 4, "pad_token_id": 0,
    "bos_token_id": 4, "eos_token_id": 1,
}  # fmt: skip
EXPERTS = {
    "num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8,
    "shared_expert_intermediate_size": 8, "linear_num_key_heads": 2, "linear_num_value_heads": 2,
    "linear_key_head_dim": 8, "linear_value_head_dim": 8,
}  # fmt: skip
OTHERS = {
    "mamba": ("MambaForCausalLM", "MambaConfig",
              {"vocab_size": 400, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4}),
    "qwen3_next": ("Qwen3NextForCausalLM", "Qwen3NextConfig", SIZE | EXPERTS),
}  # fmt: skip


def copy_tokenizer(folder, to):
    for file in folder.glob("*token*"):
        (to / file.name).write_bytes(file.read_bytes())


@pytest.mark.parametrize("name", OTHERS)
def test_a_model_that_does_not_attend_in_all_layers(name, transformers_folders, tmp_path):
    model, config, options = OTHERS[name]
    torch.manual_seed(0)
    getattr(transformers, model)(getattr(transformers, config)(**options)).save_pretrained(tmp_path)
    copy_tokenizer(transformers_folders["GPT-2"], tmp_path)
    with pytest.raises(LoadingError, match=f"type {name}, and not all of its layers attend"):
        load_transformers_reader(tmp_path)


def test_a_head_of_masked_words_that_its_class_calls_an_lm_head(transformers_folders, tmp_path):
    config = transformers.FlaubertConfig(
        vocab_size=400, emb_dim=16, n_layers=2, n_heads=4, max_position_embeddings=40, pad_index=0
    )
    torch.manual_seed(0)
    model = transformers.FlaubertWithLMHeadModel(config).eval()
    model.save_pretrained(tmp_path)
    copy_tokenizer(transformers_folders["RoBERTa"], tmp_path)
    reader = load_transformers_reader(tmp_path)
    trace = reader.trace("I love my cat.", masked=[2])
    ids = torch.tensor([[piece.id for piece in trace.source_tokens]])
    with torch.no_grad():
        torch.testing.assert_close(trace.logits, model(ids).logits[:, [2]])


def test_a_config_with_an_infinite_number(transformers_folders, tmp_path):
    mamba = {"d_ssm": 16, "n_heads": 4, "d_head": 4, "d_state": 4, "n_groups": 1}
    mixed = {f"mamba_{name}": size for name, size in mamba.items()}
    config = transformers.FalconH1Config(**SIZE, **mixed)
    torch.manual_seed(0)
    transformers.FalconH1ForCausalLM(config).save_pretrained(tmp_path)
    assert '"__float__": "Infinity"' in (tmp_path / "config.json").read_text("utf-8")
    copy_tokenizer(transformers_folders["GPT-2"], tmp_path)
    assert load_transformers_reader(tmp_path).shape.kinds == {"decoder": (4, 4)}


def test_a_model_that_reads_pictures(transformers_folders, tmp_path):
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=4, intermediate_size=20
    )
    transformers.ViTModel(config).save_pretrained(tmp_path)
    copy_tokenizer(transformers_folders["GPT-2"], tmp_path)
    with pytest.raises(LoadingError, match="cannot read a text"):
        load_transformers_reader(tmp_path)


def test_an_adapter_alone_is_to_be_merged(tmp_path):
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    (tmp_path / "adapter_model.safetensors").write_bytes(b"")
    for load in (load_model, load_transformers_reader):
        with pytest.raises(LoadingError, match=r"Merge the two, and save the whole model"):
            load(tmp_path)


def test_weights_that_lack_a_head_of_classes(transformers_folders, tmp_path):
    transformers.AutoModel.from_pretrained(transformers_folders["classes"]).save_pretrained(
        tmp_path
    )
    copy_tokenizer(transformers_folders["classes"], tmp_path)
    config = json.loads((tmp_path / "config.json").read_text("utf-8"))
    config["architectures"] = ["DistilBertForSequenceClassification"]
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(LoadingError, match=r"lack 4 tensors, such as classifier\.bias"):
        load_transformers_reader(tmp_path)


def test_a_decoder_that_looks_ahead_is_an_encoder(transformers_folders, tmp_path):
    options = {key: value for key, value in SIZE.items() if key != "num_hidden_layers"}
    config = transformers.Gemma3TextConfig(
        **options, num_hidden_layers=2, use_bidirectional_attention=True, sliding_window=16
    )
    torch.manual_seed(0)
    transformers.Gemma3TextModel(config).save_pretrained(tmp_path)
    copy_tokenizer(transformers_folders["GPT-2"], tmp_path)
    assert load_transformers_reader(tmp_path).shape.kinds == {"encoder": (2, 4)}


def test_a_model_that_is_larger_than_the_memory(transformers_folders, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda device: 10_000)
    with pytest.raises(LoadingError, match=r"needs about .* GB of memory, and 0\.0 GB are free\."):
        load_transformers_reader(transformers_folders["GPT-2"])
    monkeypatch.setattr(memory, "free_memory", lambda device: None)
    load_transformers_reader(transformers_folders["GPT-2"])


def test_numbers_are_counted_without_reading_them(transformers_folders, tmp_path):
    folder = transformers_folders["GPT-2"]
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    assert count_numbers(folder) == model.num_parameters()
    # Sparse: the file is as long as its header says, and takes no room on the disk.
    count = 10**12
    tensor = {"dtype": "BF16", "shape": [10**6, 10**6], "data_offsets": [0, 2 * count]}
    header = json.dumps({"a": tensor}).encode()
    large = tmp_path / "model.safetensors"
    large.write_bytes(struct.pack("<Q", len(header)) + header)
    os.truncate(large, 8 + len(header) + 2 * count)
    assert count_numbers(tmp_path) == count
    with pytest.raises(LoadingError, match=r"A model needs about 4800\.0 GB"):
        check_memory(count, "A model", torch.device("cpu"))
    assert 10**8 < free_memory(torch.device("cpu")) < 10**15
