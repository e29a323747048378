"""Folders of models that are damaged, or made to do harm, from the folder of a good one.

Each maker changes a folder with a model as the transformers library saves it, such as `save_bert`
does. Those of BOMBS and DAMAGES are refused in a trial; those of SLY load, and at worst a page says
what is wrong.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

import torch

from bench.hostile.damaging import (
    CONFIG,
    TOKENIZER,
    WEIGHTS,
    Maker,
    adapter,
    beginning,
    chat,
    config,
    deep,
    filled,
    first_tensor,
    growing,
    header,
    in_parts,
    own_code,
    pickled,
    sparse,
    splitting,
    text,
    tokenizer,
    vocabulary,
    weights,
)

LISTS = '{"model_type": "bert", "x": [' + "[]," * 900_000 + "[]]}"  # 3 MB
# What takes memory or time before anybody asks whether the files fit each other.
BOMBS: Mapping[str, Maker] = {
    "vocabulary of 3e7": config(vocab_size=30_000_000),
    "vocabulary of 1.9e6": config(vocab_size=1_900_000),
    "positions 1e8": config(max_position_embeddings=100_000_000),
    "positions 1.9e7": config(max_position_embeddings=19_000_000),
    "segments 1e8": config(type_vocab_size=100_000_000),
    "width 16384": config(hidden_size=16_384, num_attention_heads=16),
    "feed-forward 1e9": config(intermediate_size=1_000_000_000),
    "layers 1e5": config(num_hidden_layers=100_000),
    "layers 1e9": config(num_hidden_layers=1_000_000_000),
    "layers 900": config(num_hidden_layers=900),
    "heads 1e9": config(num_attention_heads=1_000_000_000),
    "labels 1e9": config(num_labels=1_000_000_000),
    "config of 6 GB": sparse(CONFIG, 6_000_000_000),
    "config of 3 MB of lists": text(CONFIG, LISTS),
    "config 100,000 deep": text(CONFIG, deep(100_000)),
    "config 100 deep": text(CONFIG, deep(100)),
    "vocab.txt of 3 GB": sparse("vocab.txt", 3_000_000_000),
    "tokenizer.json of 3 GB": sparse(TOKENIZER, 3_000_000_000),
    "tokenizer_config.json of 3 GB": sparse("tokenizer_config.json", 3_000_000_000),
    "header of 1 GB": text(WEIGHTS, struct.pack("<Q", 10**9)),
    "header of 2^63 bytes": text(WEIGHTS, struct.pack("<Q", 2**63)),
    "header 100,000 deep": text(
        WEIGHTS, struct.pack("<Q", 200_000) + b"[" * 100_000 + b"]" * 100_000
    ),
    "500,000 dimensions": header(first_tensor(shape=[1] * 500_000)),
    "tensor of 1e12 numbers": header(
        first_tensor(shape=[10**6, 10**6], dtype="F32", data_offsets=[0, 4 * 10**12])
    ),
    "sparse tensor of 1e12 numbers": header(
        lambda found: {"a": {"dtype": "F32", "shape": [10**12], "data_offsets": [0, 4 * 10**12]}},
        data=4 * 10**12,
    ),
    "tokenizer that grows": growing(".", 3),
    "tokenizer that grows every letter": growing("e", 2),
    "token 1e9": vocabulary(lambda found: found | {"zzz": 1_000_000_000}),
    "splitting without end": splitting(r"(a+)+(a+)+(a+)+(a+)+b"),
    "20,000 tokens before a text": beginning(20_000),
}  # fmt: skip

# What is wrong inside files that are as large as they should be.
DAMAGES: Mapping[str, Maker] = {
    "norm without a number": config(layer_norm_eps=math.nan),
    "norm infinite": config(layer_norm_eps=math.inf),
    "norm below 0": config(layer_norm_eps=-1.0),
    "dropout of 5": config(hidden_dropout_prob=5.0),
    "heads 0": config(num_attention_heads=0),
    "width 0": config(hidden_size=0),
    "width in words": config(hidden_size="wide"),
    "layers -3": config(num_hidden_layers=-3),
    "layers in a list": config(num_hidden_layers=[1, 2]),
    "activation unknown": config(hidden_act="__import__('os')"),
    "padding beyond the vocabulary": config(pad_token_id=10**6),
    "type unknown": config(model_type="homemade"),
    "type a number": config(model_type=7),
    "type of another family": config(model_type="gpt2"),
    "quantized": config(quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True}),
    "config a list": text(CONFIG, "[]"),
    "config empty": text(CONFIG, ""),
    "config of bytes": text(CONFIG, bytes(range(256)) * 10),
    "index elsewhere": in_parts("../x.safetensors"),
    "index elsewhere by root": in_parts("/etc/passwd"),
    "index elsewhere among others": in_parts("x.safetensors", "../x.safetensors"),
    "index of a pickle": in_parts("pytorch_model.bin"),
    "index of dots": in_parts(".."),
    "pickle": pickled,
    "adapter": adapter,
    "distributed": text("shard-00000-model-00001-of-00001.safetensors", b"{}"),
    "weights empty": text(WEIGHTS, b""),
    "weights of zeros": text(WEIGHTS, bytes(5_000)),
    "header a list": text(WEIGHTS, struct.pack("<Q", 2) + b"[]"),
    "tensor of an unknown type": header(first_tensor(dtype="F31")),
    "tensor of a shape of words": header(first_tensor(shape=["a"])),
    "tensor of a shape below 0": header(first_tensor(shape=[-1, 24])),
    "tensor beyond the file": header(first_tensor(data_offsets=[0, 10**9])),
    "tensors of half": weights(lambda found: dict(list(found.items())[::2])),
    "tensors of one number": weights(lambda found: {name: torch.zeros(1) for name in found}),
    "weights no number": filled("query.weight", math.nan),
    "weights infinite": filled("word_embeddings", math.inf),
    "norms infinite": filled("LayerNorm.weight", -math.inf),
    "weights too large": weights(lambda found: {name: t * 1e30 for name, t in found.items()}),
    "tokenizer empty": tokenizer(lambda found: {}),
    "tokenizer a list": tokenizer(lambda found: []),
    "no [UNK]": vocabulary(
        lambda found: {name: index for name, index in found.items() if name != "[UNK]"}
    ),
    "no vocabulary": vocabulary(lambda found: {}),
    "token below 0": vocabulary(lambda found: found | {"zzz": -1}),
    "token beyond the model": beginning(1, ids=10**6),
    "200 tokens before a text": beginning(200),
}  # fmt: skip

# What loads, since it is ignored by rule or shows itself on some texts only.
SLY: Mapping[str, Maker] = {
    "own code": own_code,
    "kernels": config(use_kernels=True, kernel_config={"kernel_mapping": {"x": "y/z:Z"}}),
    "attention from the hub": config(
        _attn_implementation="kernels-community/evil", attn_implementation="some/kernel",
        _experts_implementation="some/kernel", transformers_weights="../x.safetensors",
        fusion_config={"x": True},
    ),
    "token of one word beyond the model": vocabulary(
        lambda found: {"dragon" if name == "it" else name: index for name, index in found.items()}
        | {"dragon": 10**6}
    ),
    "panic over one word": splitting(r"(?=.*dragon)(a+)+(a+)+(a+)+(a+)+b"),
    "architecture unknown": config(architectures=["os.system"]),
}  # fmt: skip

# For models that write.
CHATS: Mapping[str, Maker] = {
    "chat without end": chat(
        "{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
        "{% endfor %}{% endfor %}{% endfor %}x"
    ),
    "chat that grows": chat("{{ 'a' * 10000000000 }}"),
    "chat of nothing": chat("{{ x.y.z }}"),
    "chat of code": chat("{{ ''.__class__.__mro__[1].__subclasses__() }}"),
}
