"""What a config and the header of a safetensors file may say, on plain values."""

import math
from contextlib import suppress

import pytest
import transformers
from hypothesis import given
from hypothesis import strategies as st

from model.library.bounds import check_config, check_header, without_switches
from tests.model.library.families import FAMILIES

LARGEST = {  # of models that there are
    "vocab_size": 901_629, "max_position_embeddings": 10_485_760, "hidden_size": 18_432,
    "num_hidden_layers": 126, "num_attention_heads": 128, "intermediate_size": 73_728,
    "num_key_value_heads": 128, "head_dim": 512, "n_routed_experts": 384, "rope_theta": 1e12,
    "layer_norm_eps": 1e-12, "num_labels": 21_843,
}  # fmt: skip
TENSOR = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part, max_size=4) | st.dictionaries(st.text(), part, max_size=4),
    max_leaves=12,
)


def test_the_largest_models_are_within_the_bounds():
    check_config(LARGEST)
    check_config({"text_config": LARGEST, "layer_types": ["full_attention"] * 126})


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_library_itself_says_of_a_family_is_within_the_bounds(family):
    name = next(part for part in FAMILIES[family] if str(part).endswith("Config"))
    check_config(getattr(transformers, name)().to_dict())


@pytest.mark.parametrize("name", LARGEST)
def test_a_number_beyond_its_bounds_is_named(name):
    values = [math.nan] if name == "rope_theta" else [1e9, math.nan, math.inf, 10**400]
    configs = [{name: value} for value in values]
    for config in (*configs, {"part": configs[0]}, {"parts": [{name: [1, values[0]]}]}):
        with pytest.raises(ValueError, match=rf"^{name} is"):
            check_config(config)


def test_a_config_of_too_many_or_too_deep_parts():
    with pytest.raises(ValueError, match="entries"):
        check_config({"x": [[]] * 200_000})
    deep = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(ValueError, match="deep in each other"):
        check_config({"x": deep})


def test_what_chooses_what_runs_is_left_out_everywhere():
    switches = {"auto_map": {}, "use_kernels": True, "_attn_implementation": "x/y"}
    config = {"model_type": "bert", **switches, "text_config": {"dim": 3, **switches}}
    assert without_switches(config) == {"model_type": "bert", "text_config": {"dim": 3}}


def test_numbers_of_a_header_are_counted():
    header = {"__metadata__": {"format": "pt"}, "a": TENSOR, "b": TENSOR | {"dtype": "F32"}}
    assert check_header(header, 24) == 12


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "F31"}, {"dtype": ["F32"]}, {"shape": [2, -3]}, {"shape": [2.0, 3]},
        {"shape": [True, 6]}, {"shape": "23"}, {"shape": [1] * 9 + [6]}, {"shape": [2, 4]},
        {"data_offsets": [0, 25]}, {"data_offsets": [24, 0]}, {"data_offsets": [1, 25]},
        {"data_offsets": [0]}, {"data_offsets": None}, {"shape": None},
    ],
)  # fmt: skip
def test_a_tensor_that_cannot_be_is_refused(change):
    with pytest.raises(ValueError, match=r"^a "):
        check_header({"a": TENSOR | change}, 24)


@given(JSON, st.integers(0, 100))
def test_whatever_a_file_says_is_counted_or_refused(found, size):
    for check in (lambda: check_header(found, size), lambda: check_config({"x": found})):
        with suppress(ValueError):
            check()
