"""BERT's weights in our layers, against transformers' own model."""

import re

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close
from transformers import BertForMaskedLM, BertModel

from headlight.model.edits import Edits
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.bert import build_bert
from headlight.model.library.files import read_config, read_weights
from headlight.model.library.hub import LoadingError
from headlight.model.shape import shape_of
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site

SHAPES = {
    "plain": {},
    "wide": {"hidden_size": 96, "num_attention_heads": 12, "num_hidden_layers": 2},
    "one layer": {"num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 7},
    "deep": {"num_hidden_layers": 7, "hidden_size": 12, "num_attention_heads": 3},
    "coarse norm": {"layer_norm_eps": 1e-2},
    "one segment": {"type_vocab_size": 1},
    "three segments": {"type_vocab_size": 3},
    "relu": {"hidden_act": "relu"},
    "untied": {"tie_word_embeddings": False},
    "other padding": {"pad_token_id": 4},
}


def load(folder):
    return build_bert(read_config(str(folder)), read_weights(folder), str(folder))


def inputs(config, pad=0):
    """Two sentences a row, the second row padded."""
    torch.manual_seed(1)
    ids = torch.randint(5, 30, (2, 20))
    ids[1, 13:] = config.pad_token_id
    segments = torch.zeros_like(ids)
    if config.type_vocab_size > 1:
        segments[0, 9:] = 1
        segments[1, 6:13] = config.type_vocab_size - 1
    return ids, segments


def change_weights(folder, change):
    path = folder / "model.safetensors"
    weights = change(load_file(path))
    save_file(weights, path, {"format": "pt"})


def assert_equals_transformers(folder):
    config = read_config(str(folder))
    ids, segments = inputs(config)
    trace = Trace()
    with torch.inference_mode():
        states = load(folder)(ids, segments, Run(trace=trace))
        theirs = BertModel.from_pretrained(folder, attn_implementation="eager").eval()(
            ids,
            attention_mask=ids != config.pad_token_id,
            token_type_ids=segments,
            output_attentions=True,
        )
    assert_close(states, theirs.last_hidden_state, atol=1e-5, rtol=0)
    assert len(theirs.attentions) == len(trace.attention)
    for layer, weights in enumerate(theirs.attentions):
        assert_close(trace.attention[Site("encoder", layer)].weights, weights, atol=1e-5, rtol=0)


@pytest.mark.parametrize("options", SHAPES.values(), ids=SHAPES)
def test_states_and_every_heads_weights_equal_transformers(options, make_bert_folder):
    assert_equals_transformers(make_bert_folder(**options))


@pytest.mark.parametrize("options", SHAPES.values(), ids=SHAPES)
def test_masked_word_logits_equal_transformers(options, make_bert_folder):
    folder = make_bert_folder(**options)
    bert, config = load(folder), read_config(str(folder))
    ids, segments = inputs(config)
    with torch.inference_mode():
        logits = bert.head(bert(ids, segments))
        theirs = BertForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()(
            ids, attention_mask=ids != config.pad_token_id, token_type_ids=segments
        )
    assert_close(logits, theirs.logits, atol=1e-5, rtol=1e-5)


def test_trained_weights_equal_transformers(trained_bert):
    assert_equals_transformers(trained_bert)


def test_gradients_or_not_the_states_are_the_same(make_bert_folder):
    bert = load(make_bert_folder())
    ids, segments = torch.randint(5, 30, (1, 24)), torch.zeros(1, 24, dtype=torch.long)
    with torch.no_grad():
        states = bert(ids, segments)
    assert_close(states, bert(ids, segments), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "kind",
    [
        "BertModel",
        "BertForPreTraining",
        "BertForSequenceClassification",
        "BertForTokenClassification",
        "BertForMultipleChoice",
    ],
)
def test_checkpoints_of_other_classes_load_too(kind, make_bert_folder):
    folder = make_bert_folder(kind)
    assert_equals_transformers(folder)
    expected = {"BertForPreTraining": "masked words", "BertForSequenceClassification": "class"}
    assert load(folder).head_kind == expected.get(kind)


def test_old_names_of_norms_are_read(make_bert_folder):
    folder = make_bert_folder()

    def old(name):
        return re.sub(
            r"LayerNorm\.(weight|bias)$",
            lambda found: f"LayerNorm.{'gamma' if found[1] == 'weight' else 'beta'}",
            name,
        )

    expected = load(folder).state_dict()
    change_weights(folder, lambda weights: {old(name): t for name, t in weights.items()})
    assert any(name.endswith("gamma") for name in read_weights(folder))
    again = load(folder).state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in expected.items())


def test_half_precision_weights_become_float32(make_bert_folder):
    folder = make_bert_folder()
    change_weights(folder, lambda weights: {n: t.bfloat16() for n, t in weights.items()})
    assert {parameter.dtype for parameter in load(folder).parameters()} == {torch.float32}


def test_the_output_of_the_head_is_tied_unless_the_config_says_otherwise(make_bert_folder):
    tied, untied = load(make_bert_folder()), load(make_bert_folder(tie_word_embeddings=False))
    assert tied.head.output.weight is tied.tokens.weight
    assert not torch.equal(untied.head.output.weight, untied.tokens.weight)


def test_heads_and_cells_are_edited_as_in_the_shipped_model(make_bert_folder):
    bert = load(make_bert_folder())
    ids, segments = torch.randint(5, 30, (1, 6)), torch.zeros(1, 6, dtype=torch.long)
    edits = Edits(gates={("encoder", 1, 2): 0.0}, masks={("window", "encoder"): (1,)})
    trace = Trace()
    with torch.no_grad():
        bert(ids, segments, Run(edits.at_sites(shape_of(bert.config), 6), trace))
    record = trace.attention[Site("encoder", 1)]
    assert (record.heads[:, 2] == 0).all()
    assert (record.heads[:, 1] != 0).all()
    assert (record.weights[..., 0, 2:] == 0).all()
    assert_close(record.weights.sum(-1), torch.ones(1, 4, 6))


def test_tokens_may_stand_elsewhere(make_bert_folder):
    bert = load(make_bert_folder())
    ids, segments = torch.randint(5, 30, (1, 4)), torch.zeros(1, 4, dtype=torch.long)
    order = [2, 0, 3, 1]
    with torch.no_grad():
        moved = bert(ids, segments, Run({"encoder": PositionEdit(order=tuple(order))}))
        expected = bert(ids[:, torch.tensor(order).argsort()], segments)[:, order]
    assert_close(moved, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda w: {n: t for n, t in w.items() if "layer.2.output.dense.bias" not in n},
            r"lack 1 tensors, such as layers\.2\.feed_forward\.output\.bias",
        ),
        (
            lambda w: {n: t[:20] if "word_embeddings" in n else t for n, t in w.items()},
            r"tokens\.weight has the shape \(20, 24\), but the config asks for \(30, 24\)",
        ),
        (
            lambda w: {n: t for n, t in w.items() if "predictions.bias" not in n},
            r"lack 1 tensors, such as head\.output\.bias",
        ),
        (
            lambda w: w | {"bert.encoder.layer.3.output.dense.bias": torch.zeros(24)},
            r"have 1 unknown tensors, such as layers\.3",
        ),
        (lambda w: {"other": torch.zeros(2)}, "lack 53 tensors"),
    ],
)
def test_weights_that_do_not_fit_the_config_are_named(change, sentence, make_bert_folder):
    folder = make_bert_folder()
    change_weights(folder, lambda weights: {n: t.clone() for n, t in change(weights).items()})
    with pytest.raises(LoadingError, match=f"do not fit its config.*{sentence}.*Download or save"):
        load(folder)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"hidden_act": "gelu_new"}, "with the activation gelu_new, which the layers here do not"),
        ({"is_decoder": True}, "with a decoder's mask"),
        (
            {"is_decoder": True, "add_cross_attention": True},
            "with a decoder's mask and attention to another model",
        ),
        ({"position_embedding_type": "relative_key"}, "with relative positions"),
    ],
)
def test_a_bert_with_parts_that_are_not_here_is_refused(options, sentence, make_bert_folder):
    folder = make_bert_folder("BertLMHeadModel", **options)
    with pytest.raises(LoadingError, match=sentence):
        load(folder)
