"""Rotary positions turn as the library's own, and moved tokens are read as the library does."""

import importlib

import pytest
import torch
import transformers
from torch.testing import assert_close

from headlight.model.edits.positions import PositionEdit
from headlight.model.library.attachment import attach
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.transformer.trace import Site
from tests.matrix import first_of
from tests.model.library.families import BERT, LLAMA, WIDE, make_inputs, traced

ROTARY = ["Llama", "ModernBERT", "Qwen3", "Gemma 3", "GPT-OSS", "GPT-NeoX", "Phi-3", "Mistral"]
SCALED = {
    "default": {"rope_type": "default", "rope_theta": 500.0},
    "linear": {"rope_type": "linear", "rope_theta": 100.0, "factor": 4.0},
    "yarn": {
        "rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    "llama3": {
        "rope_type": "llama3", "rope_theta": 100.0, "factor": 4.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
    },
}  # fmt: skip
OTHERS = {
    "Cohere": ("CohereForCausalLM", "CohereConfig", LLAMA),  # neighbours are pairs
    "GLM": ("GlmForCausalLM", "GlmConfig", WIDE | {"head_dim": 8}),  # the same in half of a head
    "Phi": ("PhiForCausalLM", "PhiConfig", BERT | {"hidden_size": 32}),  # half of a head
}
TEXT = "I love my cat."


def built(model, config, options):
    torch.manual_seed(1)
    config = getattr(transformers, config)(**options)
    config._attn_implementation = "eager"
    return getattr(transformers, model)(config).eval()


def as_the_library(model, rotary, query, key, positions):
    """A query and a key (1, H, T, D) as the library's own function of a Llama turns them."""
    maker = importlib.import_module(type(model).__module__)
    cos, sin = model.model.rotary_emb(query, positions[None])
    return maker.apply_rotary_pos_emb(query, key, cos, sin)


@pytest.mark.parametrize("scaling", SCALED)
def test_a_turn_is_that_of_the_librarys_own_function(scaling):
    model = built("LlamaForCausalLM", "LlamaConfig", LLAMA | {"rope_parameters": SCALED[scaling]})
    rotary = attach(model, make_inputs("Llama"), "Llama").rotary[Site("decoder", 1)]
    assert rotary.settings["rope_theta"] == SCALED[scaling]["rope_theta"]
    assert rotary.settings["rope_type"] == scaling
    query, key = torch.randn(2, 1, 4, 9, rotary.width)
    positions = torch.arange(3, 12)
    expected = as_the_library(model, rotary, query, key, positions)
    for states, turned in zip((query, key), expected, strict=True):
        assert_close(rotary.turn(states, positions), turned)
        assert_close(rotary.turn_back(turned, positions), states)


@pytest.mark.parametrize("name", first_of(ROTARY))
def test_a_family_turns_in_all_of_its_layers(name, attached):
    _, attachment = attached(name)
    several = attachment.sites.modules.values()
    assert set(attachment.rotary) == {site for sites in several for site in sites}
    assert attachment.moves


@pytest.mark.matrix
@pytest.mark.parametrize("name", OTHERS)
def test_pairs_of_neighbours_and_parts_of_a_head_are_known(name):
    model = built(*OTHERS[name])
    attachment = attach(model, make_inputs("Llama"), name)
    rotary = attachment.rotary[Site("decoder", 0)]
    assert rotary.interleaved == (name != "Phi")
    assert rotary.width == {"Cohere": 6, "GLM": 4, "Phi": 4}[name]


@pytest.mark.parametrize("name", ["GPT-2", "BERT", "T5"])
def test_others_turn_nothing(name, attached):
    _, attachment = attached(name)
    assert not attachment.rotary
    assert attachment.moves == (name == "GPT-2")  # by a learned table


def test_the_products_by_distance_are_those_of_turned_queries_and_keys(attached):
    _, attachment = attached("Llama")
    rotary = attachment.rotary[Site("decoder", 1)]
    _, trace = traced("Llama", attached)
    record = trace.attention[Site("decoder", 1)]
    positions = torch.arange(record.query.size(2))
    query, key = (rotary.turn_back(each[0, 1], positions) for each in (record.query, record.key))
    dots = record.query[0, 1] @ record.key[0, 1].T
    for at in range(8):
        distance = torch.tensor([7 - at])
        product = rotary.products_by_distance(query[7:8], key[at : at + 1], distance)
        assert_close(product[0], dots[7, at], atol=1e-4, rtol=1e-4)
    several = rotary.products_by_distance(query, key, torch.tensor([3]))
    three = torch.full_like(positions, 3)
    expected = rotary.turn(query, three) * rotary.turn(key, 0 * three)
    assert_close(several[0], expected.sum(dim=-1).mean(), atol=1e-4, rtol=1e-4)


def test_shifted_tokens_keep_their_distances_and_so_their_weights(load):
    reader = load("Llama")
    assert "move positions" not in reader.missing
    plain = reader.trace(TEXT)
    shifted = reader.trace(TEXT, edits={"decoder": PositionEdit(shift=11)})
    site = Site("decoder", 1)
    turned = shifted.attention[site].query - plain.attention[site].query
    assert turned.abs().max() > 1e-2
    assert_close(shifted.weights("decoder"), plain.weights("decoder"), atol=1e-5, rtol=1e-4)
    assert_close(shifted.logits, plain.logits, atol=1e-4, rtol=1e-4)


def test_without_positions_queries_are_not_turned_and_shuffled_ones_are_elsewhere(load):
    reader, site = load("Llama"), Site("decoder", 0)
    rotary, tokens = reader.rotary(site), len(reader.trace(TEXT).target_tokens)
    plain = reader.trace(TEXT).attention[site].query
    query = rotary.turn_back(plain, torch.arange(tokens))
    off = reader.trace(TEXT, edits={"decoder": PositionEdit(off=True)})
    assert_close(off.attention[site].query, query)
    order = tuple(reversed(range(tokens)))
    shuffled = reader.trace(TEXT, edits={"decoder": PositionEdit(order=order)})
    assert_close(shuffled.attention[site].query, rotary.turn(query, torch.tensor(order)))
    assert_close(reader.trace(TEXT).attention[site].query, plain)  # nothing is left behind


def test_what_is_written_at_shifted_positions_stays_the_same(load):
    reader = load("Llama")
    shifted = reader.write(TEXT, edits={"decoder": PositionEdit(shift=7)}, longest=6)
    assert shifted.writing.text == reader.write(TEXT, longest=6).writing.text
    edits = {"decoder": PositionEdit(off=True)}
    written = reader.write(TEXT, edits=edits, longest=4).writing
    logits = reader.trace(TEXT, written, edits=edits).logits[0]
    ids = [token.id for token in written.target_tokens]
    assert logits[-len(ids) - 1 : -1].argmax(dim=-1).tolist() == ids


def test_positions_that_cannot_be_moved_are_refused(transformers_folders):
    reader = load_transformers_reader(transformers_folders["DistilBERT"])
    with pytest.raises(ValueError, match="is not known well enough"):
        reader.trace(TEXT, edits={"encoder": PositionEdit(shift=1)})


@pytest.fixture(scope="module")
def theirs(transformers_folders):
    return transformers.GPT2LMHeadModel.from_pretrained(transformers_folders["GPT-2"]).eval()


def moved(reader, **edit):
    return reader.trace(TEXT, edits={"decoder": PositionEdit(**edit)})


def ids_of(trace):
    return torch.tensor([[token.id for token in trace.target_tokens]])


@torch.inference_mode()
@pytest.mark.parametrize("edit", [{"shift": 5}, {"order": (0, 3, 1, 2)}])
def test_moved_tokens_are_read_at_their_positions(load, theirs, edit):
    trace = moved(load("GPT-2"), **edit)
    ids = ids_of(trace)
    places = torch.tensor([PositionEdit(**edit).positions(0, ids.size(1))])
    assert_close(trace.logits, theirs(ids, position_ids=places).logits, atol=1e-5, rtol=1e-4)


@torch.inference_mode()
def test_without_positions_nothing_is_added(load, theirs):
    reader = load("GPT-2")
    trace = moved(reader, off=True)
    embedded = (
        theirs.transformer.wte(ids_of(trace))
        - theirs.transformer.wpe.weight[: len(trace.target_tokens)]
    )
    expected = theirs(inputs_embeds=embedded).logits
    assert_close(trace.logits, expected, atol=1e-5, rtol=1e-4)
    embedding = reader.streamed(trace, {"decoder": PositionEdit(off=True)}).embedding["decoder"]
    assert not embedding.positions.any()
    assert (reader.trace(TEXT).logits - trace.logits).abs().max() > 1e-3  # nothing is left behind


def test_what_is_written_without_positions_is_what_a_run_over_it_says(load):
    reader, edits = load("GPT-2"), {"decoder": PositionEdit(off=True)}
    written = reader.write(TEXT, edits=edits, longest=4).writing
    logits = reader.trace(TEXT, written, edits=edits).logits[0]
    ids = [token.id for token in written.target_tokens]
    assert logits[-len(ids) - 1 : -1].argmax(dim=-1).tolist() == ids


def test_a_learned_table_ends(load):
    with pytest.raises(ValueError, match=r"There is no position \d+: the learned table ends at 39"):
        moved(load("GPT-2"), shift=39)


def test_a_table_and_what_it_adds_to_a_text_are_the_librarys(load, theirs):
    reader = load("GPT-2")
    table = theirs.transformer.wpe.weight.detach()
    assert_close(reader.position_table, table)
    trace = reader.trace(TEXT)
    embedding = reader.streamed(trace, {}).embedding["decoder"]
    assert_close(embedding.positions, table[: len(trace.target_tokens)])
    assert_close(embedding.tokens, theirs.transformer.wte(ids_of(trace)).detach())
    assert_close(embedding.states, embedding.tokens + embedding.positions)
    assert load("Llama").position_table is None
