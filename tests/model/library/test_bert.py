"""BERT in our layers, against transformers' own models of the same folders."""

import json
import re

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from headlight.model.edits import Edits
from headlight.model.edits.attention import AttentionEdit
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.bert import fits_our_layers
from headlight.model.library.files import read_config
from headlight.model.library.loading import load_bert
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
}
HEADS = {
    "BertForMaskedLM": "masked words",
    "BertForPreTraining": "masked words",
    "BertForSequenceClassification": "class",
    "BertForQuestionAnswering": "span",
    "BertForTokenClassification": "tags",
    "BertForMultipleChoice": None,
    "BertModel": None,
}
CLASSES = {"masked words": "BertForMaskedLM", None: "BertModel"}


def inputs(config):
    """Two sentences a row, the second row padded."""
    torch.manual_seed(1)
    ids = torch.randint(5, 30, (2, 20))
    ids[1, 13:] = config.pad_token_id
    segments = torch.zeros_like(ids)
    if config.type_vocab_size > 1:
        segments[0, 9:] = 1
        segments[1, 6:13] = config.type_vocab_size - 1
    return ids, segments


def expected_logits(head, outputs):
    if head == "span":
        return torch.stack([outputs.start_logits, outputs.end_logits], dim=1)
    if head is None:
        return torch.empty(2, 0, 0)
    return outputs.logits[:, None] if head == "class" else outputs.logits


def assert_equals_transformers(folder, kind="BertModel"):
    config, bert = read_config(str(folder)), load_bert(folder).model
    ids, segments = inputs(config)
    kind, trace = CLASSES.get(bert.head_kind, kind), Trace()
    model = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager").eval()
    mask = ids != config.pad_token_id
    options = {"output_attentions": True, "output_hidden_states": True}
    with torch.inference_mode():
        states = bert(ids, segments, Run(trace=trace))
        theirs = model(ids, attention_mask=mask, token_type_ids=segments, **options)
        logits = expected_logits(bert.head_kind, theirs)
        assert_close(bert.logits(states), logits, atol=1e-5, rtol=1e-5)
    assert_close(states, theirs.hidden_states[-1], atol=1e-5, rtol=0)
    assert len(theirs.attentions) == len(trace.attention)
    for layer, weights in enumerate(theirs.attentions):
        assert_close(trace.attention[Site("encoder", layer)].weights, weights, atol=1e-5, rtol=0)


@pytest.mark.parametrize("options", SHAPES.values(), ids=SHAPES)
def test_states_weights_and_logits_equal_transformers(options, make_bert_folder):
    assert_equals_transformers(make_bert_folder(**options))


@pytest.mark.parametrize("kind", HEADS)
def test_a_checkpoint_of_each_class_gets_its_head(kind, make_bert_folder):
    folder = make_bert_folder(kind)
    assert load_bert(folder).model.head_kind == HEADS[kind]
    assert_equals_transformers(folder, kind)


def test_trained_weights_equal_transformers(trained_bert):
    assert_equals_transformers(trained_bert)


def test_a_head_that_the_config_does_not_name_is_seen_in_the_weights(make_bert_folder):
    folder = make_bert_folder()
    entries = json.loads((folder / "config.json").read_text())
    del entries["architectures"]
    (folder / "config.json").write_text(json.dumps(entries))
    assert load_bert(folder).model.head_kind == "masked words"


def change_weights(folder, change):
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


def test_old_names_of_norms_are_read(make_bert_folder):
    folder = make_bert_folder()

    def old(name):
        name = re.sub(r"LayerNorm\.weight$", "LayerNorm.gamma", name)
        return re.sub(r"LayerNorm\.bias$", "LayerNorm.beta", name)

    expected = load_bert(folder).model.state_dict()
    change_weights(folder, lambda weights: {old(name): t for name, t in weights.items()})
    again = load_bert(folder).model.state_dict()
    assert all(torch.equal(again[name], tensor) for name, tensor in expected.items())


def test_half_precision_weights_become_float32(make_bert_folder):
    folder = make_bert_folder()
    change_weights(folder, lambda weights: {n: t.bfloat16() for n, t in weights.items()})
    assert {weight.dtype for weight in load_bert(folder).model.parameters()} == {torch.float32}


def test_the_output_of_the_head_is_tied_unless_the_config_says_otherwise(make_bert_folder):
    for is_tied in (True, False):
        model = load_bert(make_bert_folder(tie_word_embeddings=is_tied)).model
        output = model.head.get_submodule("0.predictions.decoder")
        assert (output.weight is model.tokens.weight) == is_tied


def test_heads_and_cells_are_edited_as_in_the_shipped_model(bert):
    ids, segments = torch.randint(5, 30, (1, 6)), torch.zeros(1, 6, dtype=torch.long)
    edits = Edits(gates={("encoder", 1, 2): 0.0}, masks={("window", "encoder"): (1,)})
    trace = Trace()
    bert.model(ids, segments, Run(edits.at_sites(bert.shape, 6), trace))
    record = trace.attention[Site("encoder", 1)]
    assert (record.heads[:, 2] == 0).all()
    assert (record.heads[:, 1] != 0).all()
    assert (record.weights[..., 0, 2:] == 0).all()
    assert_close(record.weights.sum(-1), torch.ones(1, 4, 6))


def test_tokens_may_stand_elsewhere(bert):
    ids, segments = torch.randint(5, 30, (1, 4)), torch.zeros(1, 4, dtype=torch.long)
    order = [2, 0, 3, 1]
    moved = bert.model(ids, segments, Run({"encoder": PositionEdit(order=tuple(order))}))
    expected = bert.model(ids[:, torch.tensor(order).argsort()], segments)[:, order]
    assert_close(moved, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("kind", [kind for kind, head in HEADS.items() if head])
def test_gates_make_a_batch_and_have_a_gradient(kind, make_bert_folder):
    reader, site = load_bert(make_bert_folder(kind)), Site("encoder", 1)
    trace = reader.trace("was the [MASK] playing?", second="The dog sat.")
    gates = (1 - torch.eye(4)).requires_grad_()
    together = reader.rerun(trace, Run({site: AttentionEdit(gates)}))
    assert together.shape == (4, *trace.logits.shape[1:])
    for row, gate in zip(together, gates, strict=True):
        alone = reader.rerun(trace, Run({site: AttentionEdit(gate.detach())}))
        assert_close(row[None], alone, atol=1e-5, rtol=1e-4)
    together.square().sum().backward()
    assert gates.grad.abs().min() > 0


@pytest.mark.parametrize(
    "options",
    [
        {"hidden_act": "gelu_new"},
        {"is_decoder": True},
        {"is_decoder": True, "add_cross_attention": True},
        {"position_embedding_type": "relative_key"},
    ],
    ids=str,
)
def test_a_bert_with_other_parts_does_not_fit_our_layers(options):
    assert fits_our_layers(transformers.BertConfig())
    assert not fits_our_layers(transformers.BertConfig(**options))
