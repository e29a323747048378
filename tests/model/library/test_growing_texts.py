"""A tokenizer's rules make no long text of a short one, or the folder is refused."""

import base64
import json
import random
import shutil
import struct

import pytest
from tokenizers import Tokenizer, models

from headlight.model.checkpoint import save_checkpoint
from headlight.model.library.bounds import growth
from tests.model.library.absurd import MULTIPLYING, change_json, opener, replace, sequence


@pytest.fixture(scope="module")
def opened():
    with opener() as said_of:
        yield said_of


@pytest.fixture
def copied(transformers_folders, tmp_path):
    return lambda name: shutil.copytree(transformers_folders[name], tmp_path / "copy")


def charsmap(text):
    """Sentencepiece's table with an empty tree and one text."""
    return base64.b64encode(struct.pack("<I", 0) + text.encode() + b"\0").decode()


@pytest.mark.parametrize(
    ("rules", "most"),
    [
        (None, 1),
        ({"type": "NFC"}, 1),
        (replace(1), 1),
        ({"type": "Prepend", "prepend": "▁"}, 1),
        (replace(1_000), 1_000),
        (sequence("normalizers", *MULTIPLYING), 1_000**4),
        (sequence("normalizers", sequence("normalizers", replace(7)), replace(5)), 35),
        (sequence("decoders", replace(7), {"type": "Prepend", "prepend": "xy"}), 14),
        ({"type": "Precompiled", "precompiled_charsmap": charsmap("x" * 500)}, 500),
    ],
)
def test_growth_is_the_product_of_all_rules(rules, most):
    assert growth(rules) == most


def test_no_tokenizer_grows_a_text_by_more_than_its_rules_say():
    chance = random.Random(0)
    for _ in range(50):
        parts = [replace(chance.randint(1, 4), chance.choice("ab")) for _ in range(4)]
        backend = json.loads(Tokenizer(models.BPE()).to_str())
        backend["normalizer"] = sequence("normalizers", *parts)
        normalizer = Tokenizer.from_str(json.dumps(backend)).normalizer
        for letter in "ab":
            assert len(normalizer.normalize_str(letter)) <= growth(backend["normalizer"])


@pytest.mark.parametrize("part", ["normalizer", "decoder"])
def test_a_tokenizer_that_multiplies_text_is_refused(part, copied, opened):
    folder, kind = copied("GPT-2"), f"{part}s"
    rules = sequence(kind, *MULTIPLYING)
    change_json(folder / "tokenizer.json", lambda old: old.update({part: rules}))
    said = opened(folder)
    assert "A rule turns one character into more than 100" in said


def test_a_tokenizer_that_asks_for_many_tokens_is_refused(copied, opened):
    folder = copied("T5")
    change_json(
        folder / "tokenizer_config.json",
        lambda old: old.update(tokenizer_class="T5Tokenizer", extra_ids=10**9),
    )
    said = opened(folder)
    assert "asks for 1e+09 extra_ids" in said


def test_a_checkpoint_whose_tokenizer_multiplies_text_is_refused(translator, tmp_path, opened):
    save_checkpoint(tmp_path, translator.model, translator.tokenizer)
    rules = sequence("normalizers", *MULTIPLYING)
    change_json(tmp_path / "tokenizer.json", lambda old: old.update(normalizer=rules))
    assert "A rule turns one character into more than 100" in opened(tmp_path)
