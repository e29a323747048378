"""Readers of models that attend in code of their own, loaded from folders like any other."""

import pytest
import torch
import transformers

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.estimate import estimated_closings, estimated_removals
from headlight.model.insight.scoring import log_probability
from headlight.model.library.attachment import CodeAttachment
from headlight.model.library.hub import LoadingError
from headlight.model.library.transformers_loading import LONGEST, load_transformers_reader
from headlight.model.transformer.trace import Run, Site

SIZE = {"vocab_size": 400, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 20, "max_position_embeddings": 40}  # fmt: skip
LONG_T5 = {"vocab_size": 400, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2,
           "num_heads": 3, "num_decoder_layers": 1, "local_radius": 3,
           "decoder_start_token_id": 0}  # fmt: skip
# For each: its class, its config, and the model whose tokenizer it takes.
MODELS = {
    "MPNet": ("MPNetForMaskedLM", SIZE, "RoBERTa"),
    "DeBERTa-v2": (
        "DebertaV2ForSequenceClassification",
        SIZE | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "num_labels": 3},
        "RoBERTa",
    ),
    "XLNet": (
        "XLNetLMHeadModel",
        {"vocab_size": 400, "d_model": 16, "n_layer": 2, "n_head": 4, "d_inner": 20}, "RoBERTa",
    ),
    "Falcon": (
        "FalconForCausalLM",
        {"vocab_size": 400, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4},
        "GPT-2",
    ),
    "LongT5": ("LongT5ForConditionalGeneration", LONG_T5, "T5"),
    "Funnel": (
        "FunnelForMaskedLM",
        {"vocab_size": 400, "d_model": 16, "block_sizes": [1, 1], "n_head": 4, "d_head": 4,
         "d_inner": 20, "num_decoder_layers": 1},
        "RoBERTa",
    ),
}  # fmt: skip
READ = [name for name in MODELS if name != "Funnel"]
TEXT, TARGET = "I love my cat.", "J'aime mon chat."


@pytest.fixture(scope="module")
def load(tmp_path_factory, transformers_folders):
    loaded = {}

    def get(name):
        if name not in loaded:
            kind, options, tokenizer = MODELS[name]
            folder = tmp_path_factory.mktemp("model")
            torch.manual_seed(2)
            kind = getattr(transformers, kind)
            kind(kind.config_class(**options)).save_pretrained(folder)
            tokenizer = transformers.AutoTokenizer.from_pretrained(transformers_folders[tokenizer])
            tokenizer.save_pretrained(folder)
            loaded[name] = load_transformers_reader(folder)
        return loaded[name]

    return get


@pytest.mark.parametrize("name", READ)
def test_reader_records_every_head(name, load):
    reader = load(name)
    assert isinstance(reader.attached, CodeAttachment)
    assert reader.parity() == (0, 0)
    assert "add up heads" in reader.missing
    kept_back = {"open cells", "take apart"} & set(reader.missing)
    assert len(kept_back) == (2 if name in ("XLNet", "LongT5") else 0)
    trace = reader.trace(TEXT, TARGET if name == "LongT5" else None)
    assert set(trace.attention) == set(reader.shape.sites)
    for site, record in trace.attention.items():
        sizes = len(trace.query_tokens(site)), len(trace.key_tokens(site))
        assert record.weights.shape == (1, reader.shape.heads(site.kind), *sizes)
        assert torch.allclose(record.weights.sum(-1), torch.ones(1), atol=1e-5)


@pytest.mark.parametrize("name", ["DeBERTa-v2", "Falcon", "LongT5"])
@torch.inference_mode()
def test_rerun_with_edits_is_a_trace_with_edits(name, load):
    reader = load(name)
    target = TARGET if name == "LongT5" else None
    plain, site = reader.trace(TEXT, target), reader.shape.sites[0]
    assert torch.allclose(reader.rerun(plain, Run()), plain.logits, atol=1e-6)
    edits = {site: AttentionEdit(gate=torch.zeros(reader.shape.heads(site.kind)))}
    edited = reader.trace(TEXT, target, edits=edits)
    assert not torch.allclose(edited.logits, plain.logits, atol=1e-6)
    assert torch.allclose(reader.rerun(plain, Run(edits)), edited.logits, atol=1e-6)
    frozen = {
        site: AttentionEdit(weights=plain.attention[site].weights) for site in plain.attention
    }
    assert torch.allclose(reader.rerun(plain, Run(frozen)), plain.logits, atol=1e-6)


@pytest.mark.parametrize("name", ["DeBERTa-v2", "Falcon", "LongT5"])
def test_slopes_go_through_the_softmax_that_is_watched(name, load):
    reader = load(name)
    trace, site = reader.trace(TEXT, TARGET if name == "LongT5" else None), reader.shape.sites[0]
    objective, count = reader.objective(trace), reader.shape.heads(site.kind)
    result = estimated_removals(reader, trace)[site]
    ends = []
    for factor in (1.02, 0.98):
        gates = torch.ones(count, count).fill_diagonal_(factor)  # a row for each head
        run = Run({site: AttentionEdit(gate=gates)})
        with torch.inference_mode():
            ends.append(log_probability(reader, trace, objective, run))
    kinks = 0.12 if name == "LongT5" else 0.02  # of its ReLUs, within the step
    torch.testing.assert_close(result, (ends[1] - ends[0]) / 0.04, atol=3e-4, rtol=kinks)
    cells = estimated_closings(reader, trace, site)
    closed = trace.attention[site].masked_scores[0].isneginf()
    assert torch.equal(cells.isnan(), closed)


def test_model_that_sees_the_whole_text_has_no_next_token(load):
    reader = load("XLNet")
    assert reader.shape.sites == [Site("encoder", 0), Site("encoder", 1)]
    assert reader.questions(reader.trace(TEXT)) == []


def test_model_without_a_limit_reads_its_text_to_the_end(load):
    reader = load("XLNet")
    assert reader.model.config.max_position_embeddings == -1
    assert reader.shape.max_positions == LONGEST
    trace = reader.trace(TEXT)
    ids = reader.tokens.tokenizer(TEXT)["input_ids"]
    assert [piece.id for piece in trace.source_tokens] == ids
    assert not reader.is_cut(TEXT)


def test_model_whose_maps_would_be_incomplete_is_refused(load):
    with pytest.raises(LoadingError, match="not all of its layers"):
        load("Funnel")
