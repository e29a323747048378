"""Ways to damage the folder of a model, or to have it do harm, each a function of the folder."""

from __future__ import annotations

import json
import math
import os
import pickle
import random
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

Maker = Callable[[Path], None]
CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
INDEX, FIRST = "model.safetensors.index.json", "model-00001-of-00001.safetensors"
RAN = "ran"  # a file that is there if code of a folder was run


WORD_PIECES = (
    "[PAD] [UNK] [CLS] [SEP] [MASK] the a cat dog play ##ing ##ed ##s sat on mat un ##believ "
    "##able . , ' ? ! i t it is was because"
)


def save_bert(
    folder: Path, kind: str = "BertForMaskedLM", seed: int = 0, **options: object
) -> None:
    """Save a tiny random BERT that nothing is wrong with, and its tokenizer."""
    import transformers

    shape = {
        "vocab_size": len(WORD_PIECES.split()),
        "hidden_size": 24,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 40,
        "max_position_embeddings": 32,
    }
    torch.manual_seed(seed)
    model = getattr(transformers, kind)(transformers.BertConfig(**{**shape, **options}))
    with torch.no_grad():  # far enough from zero that a swapped weight is seen
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text(WORD_PIECES.replace(" ", "\n"), encoding="utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)


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


# Values that stand in the place of others.
ODD_VALUES = (
    None, True, False, -1, 0, 1, 7, 10**6, 10**9, 2**63, 10**30, 0.5, -0.5, 1e30, math.nan,
    math.inf, "", "x", "../../etc/passwd", "a" * 5_000, [], [1], ["x"], [[1]], {}, {"x": 1},
    {"0": 5, "1": None},
)  # fmt: skip
ENTRIES = (
    "architectures", "decoder_start_token_id", "dtype", "eos_token_id", "forced_bos_token_id",
    "id2label", "is_decoder", "is_encoder_decoder", "label2id", "layer_types", "output_attentions",
    "pad_token_id", "problem_type", "return_dict", "rope_parameters", "sliding_window",
    "text_config", "tie_word_embeddings", "tokenizer_class", "use_cache",
)  # fmt: skip


def mutated(seed: int) -> Maker:
    """Return a maker that changes a few entries or bytes of one file, by chance."""

    def make(folder: Path) -> None:
        chance = random.Random(seed)
        name = chance.choice([CONFIG, CONFIG, TOKENIZER, "tokenizer_config.json", WEIGHTS])
        if name == WEIGHTS:
            found = bytearray((folder / name).read_bytes())
            for _ in range(chance.randint(1, 20)):
                found[chance.randrange(min(len(found), 4_000))] = chance.randrange(256)
            (folder / name).write_bytes(found)
            return

        def change(found: dict) -> dict:
            for _ in range(chance.randint(1, 3)):
                found[chance.choice([*found, *ENTRIES])] = chance.choice(ODD_VALUES)
            return found

        change_json(name, change, folder)

    return make
