"""Ways to damage the folder of a BERT, each a function of the folder."""

import json
import math
import os
from functools import partial

import torch
from safetensors.torch import load_file, save_file

RAN = "ran"  # a file that is there if code of a folder was run
WEIGHTS, PART = "model.safetensors", "part.bin"


def change_json(name, change, folder):
    """Change what a JSON file of a folder says; NaN and infinity are written as they are."""
    path = folder / name
    path.write_text(json.dumps(change(json.loads(path.read_text("utf-8")))), encoding="utf-8")


def config(**entries):
    return partial(change_json, "config.json", lambda found: found | entries)


def text(name, content):
    return lambda folder: (folder / name).write_bytes(content)


def weights(change):
    def make(folder):
        save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS, {"format": "pt"})

    return make


def cut(folder):
    """Cut the weights off, as a download that stopped."""
    os.truncate(folder / WEIGHTS, (folder / WEIGHTS).stat().st_size - 100)


def in_parts(folder):
    """Have an index name a file of weights that can hold code."""
    places = dict.fromkeys(load_file(folder / WEIGHTS), PART)
    (folder / WEIGHTS).rename(folder / PART)
    index = json.dumps({"weight_map": places})
    (folder / "model.safetensors.index.json").write_text(index, encoding="utf-8")


def tokenizer(change):
    """A maker that changes the tokenizer, which is then read as it is.

    Else the library would make that of a BERT from the vocabulary.
    """

    def make(folder):
        (folder / "vocab.txt").unlink(missing_ok=True)
        change_json("tokenizer.json", change, folder)
        plain = {"tokenizer_class": "PreTrainedTokenizerFast"}
        change_json("tokenizer_config.json", lambda found: found | plain, folder)

    return make


def vocabulary(change):
    def changed(found):
        found["model"]["vocab"] = change(found["model"]["vocab"])
        return found

    return tokenizer(changed)


def splitting(regex):
    split = {
        "type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False
    }  # fmt: skip
    return tokenizer(lambda found: found | {"pre_tokenizer": split})


def foreign_code(folder):
    """Have config and tokenizer name code of the folder's own, for a model that is known."""
    classes = {"AutoConfig": "code.C", "AutoModel": "code.C", "AutoModelForMaskedLM": "code.C"}
    (folder / "code.py").write_text(f"open({str(folder / RAN)!r}, 'w')\nclass C: pass\n")
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text((folder / "code.py").read_text())
    config(auto_map=classes, custom_generate="code")(folder)
    named = {"auto_map": {"AutoTokenizer": [None, "code.C"]}}
    change_json("tokenizer_config.json", lambda found: found | named, folder)


def nan(found):
    for name, tensor in found.items():
        if "query.weight" in name:
            tensor.view(-1)[0] = math.nan
    return found


# What is refused when a folder is loaded, besides what test_hub.py holds.
REFUSED = {
    "heads 0": config(num_attention_heads=0),
    "width 0": config(hidden_size=0),
    "layers in a list": config(num_hidden_layers=[1, 2]),
    "activation unknown": config(hidden_act="__import__('os')"),
    "type a number": config(model_type=7),
    "type of another family": config(model_type="gpt2"),
    "quantized": config(quantization_config={"quant_method": "bitsandbytes", "load_in_4bit": True}),
    "config of bytes": text("config.json", bytes(range(256)) * 10),
    "index of a pickle": in_parts,
    "adapter": text("adapter_config.json", b'{"base_model_name_or_path": "/etc"}'),
    "weights empty": text(WEIGHTS, b""),
    "weights of zeros": text(WEIGHTS, bytes(5_000)),
    "weights cut": cut,
    "tensors of one number": weights(lambda found: {name: torch.zeros(1) for name in found}),
    "tokenizer a list": tokenizer(lambda found: []),
    "weights no number": weights(nan),
}
# What loads, since it is ignored by rule.
IGNORED = {
    "own code": foreign_code,
    "code from the hub": config(
        use_kernels=True, kernel_config={"kernel_mapping": {"x": "y/z:Z"}},
        attn_implementation="some/kernel", _attn_implementation="kernels-community/evil",
    ),
    "weights that are no safetensors": config(transformers_weights="adapter_model.bin"),
    "architecture unknown": config(architectures=["os.system"]),
}  # fmt: skip
# What shows on a text, which is given with it, and what is said of that.
DRAGON = f"{'a' * 40} dragon"
SHOWN = {
    "panic over one word": (
        splitting(r"(?=.*dragon)(a+)+(a+)+(a+)+(a+)+b"), DRAGON,
        "The tokenizer of this model cannot read this text: Onig",
    ),
    "token of one word beyond the model": (
        vocabulary(
            lambda found: {"dragon" if name == "it" else name: i for name, i in found.items()}
            | {"dragon": 10**6}
        ), DRAGON, "finds the token number 1,000,000 in this text",
    ),
    "no vocabulary": (vocabulary(lambda found: {}), DRAGON, "Missing [UNK] token"),
}  # fmt: skip
