import itertools

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.trace import Trace
from headlight.model.transformer.cache import KeyValueCache
from headlight.model.transformer.masks import look_ahead_mask
from headlight.model.transformer.trace import Run, Site

SOURCES = torch.tensor([[4, 5, 6, 7, 8, 9, 3], [10, 11, 12, 3, 0, 0, 0]])
TARGETS = torch.tensor([[2, 14, 15, 16, 17, 18], [2, 13, 12, 11, 0, 0]])
UNPADDED = torch.tensor([[2, 14, 15, 16, 17, 18], [2, 13, 12, 11, 7, 7]])
SITES = [Site(kind, layer) for kind in ("encoder", "decoder", "cross") for layer in (0, 1)]


def steps(model, targets, widths, edits=None, traces=None):
    """Logits of decoding with a cache, a number of target positions at a time."""
    edits = edits or {}
    memory = model.encode(SOURCES, Run(edits))
    cache, logits = KeyValueCache(), []
    for ids in targets.split(widths, dim=1):
        trace = Trace()
        run = Run(edits, trace, cache)
        logits.append(model.decode(ids, memory, model.source_mask(SOURCES), run))
        if traces is not None:
            traces.append(trace)
    return torch.cat(logits, dim=1)


@pytest.mark.parametrize(
    ("norm", "activation"), list(itertools.product(["pre", "post"], ["relu", "gelu"]))
)
def test_the_stacks_equal_torchs(norm, activation, make_model, torch_twin):
    model = make_model(norm=norm, activation=activation)
    padded_source, padded_target = SOURCES == 0, TARGETS == 0
    memory = model.encode(SOURCES)
    expected_memory = torch_twin(model.encoder)(
        model.encoder.embedding(SOURCES), src_key_padding_mask=padded_source
    )
    assert_close(memory[~padded_source], expected_memory[~padded_source], atol=1e-5, rtol=1e-5)
    expected = torch_twin(model.decoder)(
        model.decoder.embedding(TARGETS),
        memory,
        tgt_mask=~look_ahead_mask(6)[0, 0],
        tgt_key_padding_mask=padded_target,
        memory_key_padding_mask=padded_source,
    )
    expected_logits = expected @ model.output.weight.T
    logits = model(SOURCES, TARGETS)
    assert_close(logits[~padded_target], expected_logits[~padded_target], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_recorded_run_is_bit_identical_to_a_plain_one(norm, make_model):
    model = make_model(norm=norm)
    trace = Trace()
    recorded = model(SOURCES, TARGETS, Run(trace=trace))
    assert torch.equal(recorded, model(SOURCES, TARGETS))
    assert trace.logits is recorded


def test_every_row_of_every_site_sums_to_one(make_model):
    trace = Trace()
    make_model()(SOURCES, TARGETS, Run(trace=trace))
    for record in trace.attention.values():
        sums = record.weights.sum(-1)
        assert_close(sums, torch.ones_like(sums))


def test_a_plain_run_after_a_recorded_one_adds_nothing_to_the_record(make_model):
    model, trace = make_model(), Trace()
    model(SOURCES, TARGETS, Run(trace=trace))
    weights = {site: record.weights for site, record in trace.attention.items()}
    model(SOURCES, TARGETS + 1)
    assert all(trace.attention[site].weights is weights[site] for site in SITES)


@pytest.mark.parametrize("widths", [1, 2, [1, 3, 2], [4, 2], 6])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_stepwise_decoding_equals_teacher_forcing(widths, positions, make_model):
    model, trace, traces = make_model(positions=positions), Trace(), []
    whole = model(SOURCES, UNPADDED, Run(trace=trace))
    assert_close(steps(model, UNPADDED, widths, traces=traces), whole, atol=1e-5, rtol=1e-5)
    for site in SITES[2:]:
        rows = [step.attention[site].weights for step in traces]
        padded = [
            F.pad(part, (0, trace.attention[site].weights.size(-1) - part.size(-1)))
            for part in rows
        ]
        together = torch.cat(padded, dim=2)
        assert_close(together, trace.attention[site].weights, atol=1e-5, rtol=1e-5)


def test_a_cache_counts_positions_and_projects_the_memory_once(make_model):
    model, cache = make_model(), KeyValueCache()
    memory, mask = model.encode(SOURCES), model.source_mask(SOURCES)
    model.decode(UNPADDED[:, :2], memory, mask, Run(cache=cache))
    keys, _ = cache.entries[Site("cross", 1)]
    model.decode(UNPADDED[:, 2:5], memory, mask, Run(cache=cache))
    assert cache.length == 5
    assert cache.entries[Site("cross", 1)][0] is keys
    assert cache.entries[Site("decoder", 1)][0].shape == (2, 4, 5, 4)
    assert Site("encoder", 0) not in cache.entries


def edit_of(part):
    cross, decoder = torch.zeros(6, 7, dtype=torch.bool), torch.zeros(6, 6, dtype=torch.bool)
    cross[2, 1] = cross[4, 3] = decoder[3, 1] = decoder[5, 5] = True
    return {
        "gate": {site: AttentionEdit(gate=torch.tensor([0, 1, 0.5, 1])) for site in SITES},
        "scale": {site: AttentionEdit(scale=1.5) for site in SITES},
        "column blocked": {Site("cross", 0): AttentionEdit(block=cross[2:3])},
        "source cell blocked": {Site("encoder", 1): AttentionEdit(block=torch.eye(7).bool())},
        "cell blocked": {Site("cross", 0): AttentionEdit(block=cross)},
        "cell blocked in a head": {
            Site("cross", 1): AttentionEdit(
                block=cross & torch.tensor([True, False, False, True])[:, None, None]
            )
        },
        "padded cell opened": {Site("cross", 0): AttentionEdit(open=cross.roll(3, dims=1))},
        "target cell blocked": {Site("decoder", 0): AttentionEdit(block=decoder)},
    }[part]


@pytest.mark.parametrize(
    "part",
    [
        "gate",
        "scale",
        "column blocked",
        "source cell blocked",
        "cell blocked",
        "cell blocked in a head",
        "padded cell opened",
        "target cell blocked",
    ],
)
def test_stepwise_decoding_equals_teacher_forcing_under_edits(part, make_model):
    model, edits = make_model(), edit_of(part)
    whole = model(SOURCES, UNPADDED, Run(edits))
    assert not torch.allclose(whole, model(SOURCES, UNPADDED), atol=1e-4)
    assert_close(steps(model, UNPADDED, 1, edits), whole, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_a_target_position_cannot_see_the_future(norm, make_model):
    model = make_model(norm=norm)
    logits = model(SOURCES, UNPADDED)
    for position in range(1, 6):
        changed = UNPADDED.clone()
        changed[:, position:] = (changed[:, position:] + 3) % 15 + 4
        other = model(SOURCES, changed)
        assert_close(other[:, :position], logits[:, :position], atol=1e-6, rtol=0)
        assert not torch.allclose(other[:, position:], logits[:, position:], atol=1e-3)


def test_padding_the_source_changes_no_output(make_model):
    model = make_model()
    padded = F.pad(SOURCES[:1], (0, 5))
    memory, padded_memory = model.encode(SOURCES[:1]), model.encode(padded)
    assert_close(padded_memory[:, :7], memory, atol=1e-5, rtol=1e-5)
    assert_close(model(padded, TARGETS[:1]), model(SOURCES[:1], TARGETS[:1]), atol=1e-5, rtol=1e-5)


def test_padding_the_target_changes_no_output_before_it(make_model):
    model = make_model()
    alone = model(SOURCES[1:, :4], TARGETS[1:, :4])
    assert_close(model(SOURCES, TARGETS)[1:, :4], alone, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tie_embeddings", [True, False])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_gradients_flow_to_every_parameter(norm, tie_embeddings, positions, make_model):
    model = make_model(norm=norm, tie_embeddings=tie_embeddings, positions=positions, dropout=0.0)
    logits = model.train()(SOURCES, TARGETS)
    F.cross_entropy(logits.flatten(0, 1), TARGETS.roll(-1, 1).flatten(), ignore_index=0).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        if name.endswith("key.bias"):
            # It adds the same to all scores of a row, which the softmax ignores.
            assert parameter.grad.abs().max() < 1e-6, name
        else:
            assert parameter.grad.abs().max() > 1e-6, name


def test_tied_embeddings_and_output_are_one_matrix(make_model):
    model = make_model(tie_embeddings=True)
    matrices = [model.encoder.embedding.tokens, model.decoder.embedding.tokens, model.output]
    assert len({matrix.weight.data_ptr() for matrix in matrices}) == 1
    assert sum(parameter.shape == (20, 16) for parameter in model.parameters()) == 1


def test_untied_embeddings_and_output_are_three_matrices(make_model):
    model = make_model(tie_embeddings=False, target_vocab_size=23)
    matrices = [model.encoder.embedding.tokens, model.decoder.embedding.tokens, model.output]
    assert len({matrix.weight.data_ptr() for matrix in matrices}) == 3
    assert [tuple(matrix.weight.shape) for matrix in matrices] == [(20, 16), (23, 16), (23, 16)]


def test_without_positions_the_encoder_does_not_mind_the_order(make_model):
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    model = make_model(positions="none")
    memory = model.encode(SOURCES)
    assert_close(model.encode(SOURCES[:, order]), memory[:, order], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_with_positions_the_encoder_minds_the_order(positions, make_model):
    order = torch.tensor([3, 0, 6, 1, 5, 2, 4])
    model = make_model(positions=positions)
    memory = model.encode(SOURCES)
    assert not torch.allclose(model.encode(SOURCES[:, order]), memory[:, order], atol=1e-2)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_too_long_a_sentence_names_both_numbers(positions, make_model):
    model = make_model(positions=positions, max_positions=6)
    with pytest.raises(ValueError, match="7 tokens are more than the model's 6 positions"):
        model(SOURCES, TARGETS)


def test_the_padding_id_is_the_configs(make_model):
    model = make_model(pad_id=9)
    sources = torch.tensor([[4, 5, 6, 9, 9]])
    trace = Trace()
    model(sources, TARGETS[:1], Run(trace=trace))
    assert (trace.attention[Site("encoder", 0)].weights[..., 3:] == 0).all()
    assert_close(model.encode(sources)[:, :3], model.encode(sources[:, :3]), atol=1e-5, rtol=1e-5)


def test_dropout_is_drawn_in_training_only(make_model):
    model = make_model(dropout=0.3)
    assert torch.equal(model(SOURCES, TARGETS), model(SOURCES, TARGETS))
    model.train()
    assert not torch.equal(model(SOURCES, TARGETS), model(SOURCES, TARGETS))


def test_a_seed_gives_the_same_model(make_model):
    first, again, other = make_model(seed=4), make_model(seed=4), make_model(seed=5)
    assert torch.equal(first(SOURCES, TARGETS), again(SOURCES, TARGETS))
    assert not torch.equal(first(SOURCES, TARGETS), other(SOURCES, TARGETS))


def test_removing_a_head_everywhere_equals_zeroed_output_columns(make_model):
    model = make_model()
    gate = torch.tensor([1.0, 1.0, 0.0, 1.0])
    gated = model(SOURCES, TARGETS, Run({site: AttentionEdit(gate=gate) for site in SITES}))
    with torch.no_grad():
        for layer in (0, 1):
            for attention in (
                model.encoder.layers[layer].attention,
                model.decoder.layers[layer].self_attention,
                model.decoder.layers[layer].cross_attention,
            ):
                attention.output.weight[:, 8:12] = 0
    assert_close(gated, model(SOURCES, TARGETS), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_recorded_stream_goes_from_the_embedding_to_the_output(norm, make_model):
    model, trace = make_model(norm=norm), Trace()
    model(SOURCES, TARGETS, Run(trace=trace))
    parts = {"encoder": ("self", "feed_forward"), "decoder": ("self", "cross", "feed_forward")}
    for side, sublayers in parts.items():
        states = trace.embedding[side].states
        for layer in (0, 1):
            for part in sublayers:
                record = trace.residual[side, layer, part]
                assert torch.equal(record.states, states)
                summed = record.states + record.change
                block = getattr(model, side).layers[layer]
                name = "attention" if (side, part) == ("encoder", "self") else part
                residual = getattr(block, f"{name}_residual")
                if norm == "pre":
                    assert torch.equal(record.inputs, residual.norm(record.states))
                    assert torch.equal(record.outputs, summed)
                else:
                    assert torch.equal(record.inputs, record.states)
                    assert torch.equal(record.outputs, residual.norm(summed))
                states = record.outputs
        assert torch.equal(trace.outputs[side], getattr(model, side).norm(states))
    assert torch.equal(trace.logits, model.output(trace.outputs["decoder"]))
