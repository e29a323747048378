"""Folders of models that are damaged, or made to do harm, from the folder of a good one.

Each maker changes a folder with a model as the transformers library saves it. FATAL are refused
wherever they are loaded; the others may be refused, or load and then say on a page what is wrong.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import struct
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

Maker = Callable[[Path], None]
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
INDEX, FIRST = "model.safetensors.index.json", "model-00001-of-00001.safetensors"
RAN = "ran"  # a file that is there if code of a folder was run


def config(**entries: object) -> Maker:
    """Return a maker that changes entries of the config."""
    return partial(change_json, CONFIG, lambda found: found | entries)


def change_json(name: str, change: Callable[[dict], object], folder: Path) -> None:
    """Change what a JSON file of a folder says; NaN and infinity are written as they are."""
    path = folder / name
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), encoding="utf-8")


def text(name: str, content: str | bytes) -> Maker:
    """Return a maker that writes a file."""
    content = content.encode() if isinstance(content, str) else content

    def make(folder: Path) -> None:
        (folder / name).write_bytes(content)

    return make


def sparse(name: str, size: int) -> Maker:
    """Return a maker that makes a file as long as this, which takes no room on the disk."""

    def make(folder: Path) -> None:
        (folder / name).touch()
        os.truncate(folder / name, size)

    return make


def tokenizer(change: Callable[[dict], object]) -> Maker:
    """Return a maker that changes the tokenizer, which is then read as it is.

    Else the library would make that of a BERT from the vocabulary alone.
    """

    def make(folder: Path) -> None:
        (folder / "vocab.txt").unlink(missing_ok=True)
        change_json(TOKENIZER, change, folder)
        plain = {"tokenizer_class": "PreTrainedTokenizerFast"}
        change_json("tokenizer_config.json", lambda found: found | plain, folder)

    return make


def growing(pattern: str, times: int, length: int = 1_000) -> Maker:
    """Return a maker of a tokenizer that replaces a text by a long one, several times over."""
    steps = [
        {"type": "Replace", "pattern": {"String": begin}, "content": "a" * length}
        for begin in (pattern, *["a"] * (times - 1))
    ]
    grown = {"normalizer": {"type": "Sequence", "normalizers": steps}}
    return tokenizer(lambda found: found | grown)


def splitting(regex: str) -> Maker:
    """Return a maker of a tokenizer that splits a text by a regular expression."""
    split = {
        "type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False
    }  # fmt: skip
    return tokenizer(lambda found: found | {"pre_tokenizer": split})


def vocabulary(change: Callable[[dict[str, int]], dict[str, int]]) -> Maker:
    """Return a maker that changes the vocabulary of a tokenizer."""

    def changed(found: dict) -> dict:
        found["model"]["vocab"] = change(found["model"]["vocab"])
        return found

    return tokenizer(changed)


def beginning(times: int, ids: int | None = None) -> Maker:
    """Return a maker of a tokenizer that puts a token before every text so many times."""

    def changed(found: dict) -> dict:
        tokens = found["post_processor"]["special_tokens"]
        name = next(iter(tokens))
        if ids is not None:
            tokens[name]["ids"] = [ids]
        begun = [{"SpecialToken": {"id": name, "type_id": 0}}] * times
        found["post_processor"]["single"] = begun + found["post_processor"]["single"]
        return found

    return tokenizer(changed)


def chat(template: str) -> Maker:
    """Return a maker that gives a tokenizer a chat template."""
    return partial(
        change_json, "tokenizer_config.json", lambda found: found | {"chat_template": template}
    )


def weights(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Maker:
    """Return a maker that changes the tensors."""

    def make(folder: Path) -> None:
        save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS, {"format": "pt"})

    return make


def filled(part: str, value: float) -> Maker:
    """Return a maker that puts a number into one place of all tensors with this in their name."""

    def change(found: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        for name, tensor in found.items():
            if part in name:
                tensor.view(-1)[0] = value
        return found

    return weights(change)


def header(change: Callable[[dict], object], *, data: int | None = None) -> Maker:
    """Return a maker that changes the header of the weights, and how long its data are."""

    def make(folder: Path) -> None:
        path = folder / WEIGHTS
        found = path.read_bytes()
        (length,) = struct.unpack("<Q", found[:8])
        changed = json.dumps(change(json.loads(found[8 : 8 + length]))).encode()
        path.write_bytes(struct.pack("<Q", len(changed)) + changed + found[8 + length :])
        if data is not None:
            os.truncate(path, 8 + len(changed) + data)

    return make


def first_tensor(**entries: object) -> Callable[[dict], dict]:
    """Return a change of a header: other entries for its first tensor."""

    def change(found: dict) -> dict:
        name = next(name for name in found if name != "__metadata__")
        return found | {name: found[name] | entries}

    return change


def in_parts(*names: str) -> Maker:
    """Return a maker that has an index name these files, one of which holds the weights."""

    def make(folder: Path) -> None:
        (folder / WEIGHTS).rename(folder / FIRST)
        (folder / "x.safetensors").write_bytes((folder / FIRST).read_bytes())
        (folder.parent / "x.safetensors").write_bytes((folder / FIRST).read_bytes())
        places = dict.fromkeys(load_file(folder / FIRST), names[0])
        places |= {f"more {number}": name for number, name in enumerate(names[1:])}
        (folder / INDEX).write_text(json.dumps({"weight_map": places}), encoding="utf-8")

    return make


class Bomb:
    """Something whose pickle makes a file where it is read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple:
        return Path.touch, (self.folder / RAN,)


def pickled(folder: Path) -> None:
    """Put weights that run code into a folder, instead of the safetensors."""
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Bomb(folder)))


def own_code(folder: Path) -> None:
    """Have config and tokenizer name code of the folder's own, for a model that is known."""
    classes = {"AutoConfig": "code.C", "AutoModel": "code.C", "AutoModelForMaskedLM": "code.C"}
    (folder / "code.py").write_text(f"open({str(folder / RAN)!r}, 'w')\nclass C: pass\n")
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text((folder / "code.py").read_text())
    config(auto_map=classes, custom_generate="code")(folder)
    named = {"auto_map": {"AutoTokenizer": [None, "code.C"]}}
    change_json("tokenizer_config.json", lambda found: found | named, folder)


def adapter(folder: Path) -> None:
    """Have a folder say that it is an adapter of a model that stands elsewhere."""
    (folder / "adapter_config.json").write_text(
        json.dumps({"base_model_name_or_path": "/etc", "peft_type": "LORA"}), encoding="utf-8"
    )


def deep(depth: int) -> str:
    """Return JSON of lists within each other."""
    return '{"model_type": "bert", "x": ' + "[" * depth + "]" * depth + "}"


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
    "architecture unknown": config(architectures=["os.system"]),
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
    "panic over one word": splitting(r"(?=.*dragon)(x*x*x*x*)+y|\s+"),
    "unknown token for one word": vocabulary(lambda found: found | {"dragon": 10**6}),
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
