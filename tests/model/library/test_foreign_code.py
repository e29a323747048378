"""Models that attend in code of their own, against what the transformers library returns."""

import copy
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import pytest
import torch
import transformers
from torch.nn import functional as F

from headlight.model.edits.attention import AttentionEdit, Closed
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.attachment import Attachment, Parity, attach_code
from headlight.model.library.hub import LoadingError
from headlight.model.library.running import join_blocks, split_blocks
from headlight.model.trace import Trace
from headlight.model.transformer.attention import UNCHANGED, Edit
from headlight.model.transformer.trace import Run, Site

BERT = {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 20, "max_position_embeddings": 64}  # fmt: skip
GPT = {"vocab_size": 64, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 64}
SLIDING = BERT | {"num_key_value_heads": 2, "sliding_window": 8}
DEBERTA = BERT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}
FALCON = {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
PAIR = {"d_model": 16, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 20, "decoder_ffn_dim": 20}  # fmt: skip
LONG_T5 = {"vocab_size": 64, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_heads": 3,
           "num_decoder_layers": 1, "local_radius": 3, "decoder_start_token_id": 0}  # fmt: skip
# The class, its config, and the end of the names of its attention's output projections.
FAMILIES = {
    "DeBERTa": ("DebertaForMaskedLM", DEBERTA, "attention.output.dense"),
    "DeBERTa-v2": (
        "DebertaV2ForMaskedLM",
        DEBERTA | {"position_buckets": 8, "share_att_key": True, "position_biased_input": False},
        "attention.output.dense",
    ),
    "MPNet": ("MPNetForMaskedLM", BERT, "attn.o"),
    "RoFormer": ("RoFormerForMaskedLM", BERT, "attention.output.dense"),
    "XLM": (
        "XLMWithLMHeadModel",
        {"vocab_size": 64, "emb_dim": 16, "n_layers": 2, "n_heads": 4},
        "out_lin",
    ),
    "XLNet": (
        "XLNetLMHeadModel",
        {"vocab_size": 64, "d_model": 16, "n_layer": 2, "n_head": 4, "d_inner": 20},
        "rel_attn",
    ),
    "Bloom": (
        "BloomForCausalLM",
        {"vocab_size": 64, "hidden_size": 16, "n_layer": 2, "n_head": 4},
        "self_attention.dense",
    ),
    "Falcon": ("FalconForCausalLM", FALCON | {"alibi": False}, "self_attention.dense"),
    "Falcon with ALiBi": (
        "FalconForCausalLM", FALCON | {"alibi": True, "multi_query": False}, "self_attention.dense"
    ),
    "GPT-J": ("GPTJForCausalLM", GPT | {"rotary_dim": 4}, "attn.out_proj"),
    "CodeGen": ("CodeGenForCausalLM", GPT | {"rotary_dim": 4}, "attn.out_proj"),
    "GPT-Neo": (
        "GPTNeoForCausalLM",
        {"vocab_size": 64, "hidden_size": 16, "num_layers": 2, "num_heads": 4, "window_size": 4,
         "attention_types": [[["global", "local"], 1]], "max_position_embeddings": 64},
        "attention.out_proj",
    ),
    "XGLM": (
        "XGLMForCausalLM",
        {"vocab_size": 64, "d_model": 16, "num_layers": 2, "attention_heads": 4, "ffn_dim": 20},
        "self_attn.out_proj",
    ),
    "Doge": ("DogeForCausalLM", SLIDING | {"keep_window_size": 64}, "self_attn.o_proj"),
    "Granite SWA": (
        "GraniteSWAForCausalLM", SLIDING | {"attention_multiplier": 0.5}, "self_attn.o_proj"
    ),
    "FSMT": (
        "FSMTForConditionalGeneration",
        PAIR | {"src_vocab_size": 64, "tgt_vocab_size": 64, "langs": ["en", "de"],
                "forced_eos_token_id": None},
        "attn.out_proj",
    ),
    "LongT5": (
        "LongT5ForConditionalGeneration", LONG_T5 | {"encoder_attention_type": "local"},
        "Attention.o",
    ),
}  # fmt: skip
WINDOWED = ("Doge", "Granite SWA")  # whose caches drop keys
WRITERS = (
    "Bloom", "Falcon", "Falcon with ALiBi", "GPT-J", "CodeGen", "GPT-Neo", "XGLM", *WINDOWED
)  # fmt: skip
REFUSED = {
    "LongT5 with summaries": (
        "LongT5ForConditionalGeneration",
        LONG_T5 | {"encoder_attention_type": "transient-global"},
    ),
    "Funnel": (
        "FunnelModel",
        {"vocab_size": 64, "d_model": 16, "block_sizes": [1, 1], "n_head": 4, "d_head": 4,
         "d_inner": 20, "num_decoder_layers": 1},
    ),
    "Longformer": ("LongformerModel", BERT | {"attention_window": 8}),
    "ProphetNet": (
        "ProphetNetForConditionalGeneration",
        {"vocab_size": 64, "hidden_size": 16, "num_encoder_layers": 2, "num_decoder_layers": 2,
         "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4,
         "encoder_ffn_dim": 20, "decoder_ffn_dim": 20},
    ),
    "Mamba": (
        "MambaForCausalLM",
        {"vocab_size": 64, "hidden_size": 16, "num_hidden_layers": 2, "state_size": 4},
    ),
}  # fmt: skip
THEIRS = {"encoder": "encoder_attentions", "decoder": "decoder_attentions",
          "cross": "cross_attentions"}  # fmt: skip
LENGTH, KEY = 13, 3  # tokens, and one that is closed


def build(name, options):
    torch.manual_seed(2)
    model = getattr(transformers, name)
    config = model.config_class(**options)
    config._attn_implementation = "eager"
    built = model(config).eval()
    with torch.no_grad():  # weights so small as theirs attend to all tokens alike
        for weight in built.parameters():
            weight.mul_(5 if weight.dim() > 1 else 1)
    return built


def inputs_of(model):
    inputs = {"input_ids": torch.arange(5, 5 + LENGTH)[None]}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = torch.arange(7, 15)[None]
    return inputs


def sites_of(attachment):
    """All sites, in the order of the modules."""
    return [site for several in attachment.sites.modules.values() for site in several]


class Watched(NamedTuple):
    model: transformers.PreTrainedModel
    inputs: dict[str, torch.Tensor]
    attachment: Attachment

    def run(self, edits=None, full=None, **options):
        """The logits, and the trace, of a watched call."""
        trace = Trace(full=full)
        with torch.no_grad(), self.attachment.watching(Run(edits or {}, trace), **options):
            logits = self.model(**self.inputs)[0]
        return logits, trace

    def everywhere(self, edit_of):
        """An edit of each site, from its heads, queries and keys."""
        source = self.inputs["input_ids"].size(1)
        target = self.inputs.get("decoder_input_ids", self.inputs["input_ids"]).size(1)
        torch.manual_seed(3)
        return {
            site: edit_of(
                self.attachment.kinds[site.kind][1],
                source if site.kind == "encoder" else target,
                target if site.kind == "decoder" else source,
            )
            for site in sites_of(self.attachment)
        }


@pytest.fixture(scope="module")
def of_family():
    made = {}

    def get(family):
        if family not in made:
            model = build(*FAMILIES[family][:2])
            inputs = inputs_of(model)
            made[family] = Watched(model, inputs, attach_code(model, inputs, family))
            if family == "FSMT":  # with a cache it would look ahead over a whole text
                model.config.use_cache = False
        return made[family]

    return get


@pytest.mark.parametrize("family", FAMILIES)
def test_record_is_what_the_library_returns(family, of_family):
    watched = of_family(family)
    with torch.no_grad():
        expected = watched.model(**watched.inputs, output_attentions=True)
    logits, trace = watched.run()
    assert torch.equal(logits, expected[0])
    assert watched.attachment.parity == Parity(outputs=0, weights=0)
    is_pair = watched.model.config.is_encoder_decoder
    for kind, (layers, heads) in watched.attachment.kinds.items():
        theirs = expected[THEIRS[kind] if is_pair else "attentions"]
        assert len(theirs) == layers
        for layer, weights in enumerate(theirs):
            if weights.dim() == 5:
                weights = join_blocks(weights, LENGTH, outside=0.0)
            record = trace.attention[Site(kind, layer)]
            assert record.weights.size(1) == heads
            assert torch.equal(record.weights, weights)
            assert torch.allclose(record.masked_scores.softmax(-1), weights, atol=1e-6)
            closed = record.masked_scores.isneginf()
            if kind == "decoder":
                assert closed.triu(1).equal(torch.ones_like(closed).triu(1))
            assert not record.weights[closed].any()
            taken = record.query is not None and record.value is not None
            assert taken or "take apart" in watched.attachment.missing
            if taken:
                scores = record.query @ record.key.transpose(-2, -1) * record.scale
                scores = scores if record.bias is None else scores + record.bias
                assert torch.allclose(scores, record.scores, atol=1e-4)
                assert torch.allclose(record.weights @ record.value, record.heads, atol=1e-5)
                assert torch.equal(record.scores[~closed], record.masked_scores[~closed])


@pytest.mark.parametrize("family", FAMILIES)
def test_gate_acts_as_one_before_the_output_projection(family, of_family):
    watched = of_family(family)
    edits = watched.everywhere(lambda heads, *_: AttentionEdit(gate=torch.rand(heads)))
    logits, trace = watched.run(edits)
    plain, unedited = watched.run()
    assert (logits - plain).abs().max() > 1e-3
    first = next(iter(edits))
    assert torch.equal(trace.attention[first].weights, unedited.attention[first].weights)
    changed, ending = copy.deepcopy(watched.model), FAMILIES[family][2]
    projections = [part for name, part in changed.named_modules() if name.endswith(ending)]
    for part, edit in zip(projections, edits.values(), strict=True):
        if family == "XLNet":  # its projection is (d_model, H, D)
            part.o.data.mul_(edit.gate[:, None])
        else:
            columns = part.weight.data.unflatten(1, (len(edit.gate), -1))
            columns.mul_(edit.gate[:, None])
    with torch.no_grad():
        assert torch.allclose(changed(**watched.inputs)[0], logits, atol=1e-5)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "LongT5"])
def test_closed_cells_and_given_weights_act_as_a_softmax_of_ones_own(
    family, of_family, monkeypatch
):
    watched = of_family(family)

    def edit_of(heads, queries, keys):
        given = [None, torch.rand(heads, queries, keys), torch.rand(queries, keys)]
        given = given[torch.randint(3, ())]
        return AttentionEdit(block=torch.rand(heads, queries, keys) < 0.3, weights=given)

    edits = watched.everywhere(edit_of)
    logits, trace = watched.run(edits)
    softmax, left = F.softmax, list(edits.items())

    def our_softmax(given, *args, **kwargs):
        site, edit = left.pop(0)
        scores = given.view(1, *edit.block.shape)
        closed = edit.block | (scores < -1e4)
        weights = softmax(scores.masked_fill(closed, -1e30), *args, **kwargs)
        weights = weights * ~closed.all(dim=-1, keepdim=True)
        if edit.weights is not None:
            weights = edit.weights.expand(scores.shape).contiguous()
        assert torch.allclose(trace.attention[site].weights, weights, atol=1e-5)
        return weights.view(given.shape)

    monkeypatch.setattr(F, "softmax", our_softmax)
    with torch.no_grad():
        expected = watched.model(**watched.inputs)[0]
    assert not left
    assert torch.allclose(logits, expected, atol=1e-5)


TAKEN_APART = [family for family in FAMILIES if family not in ("XLNet", "Bloom", "XGLM", "LongT5")]


@dataclass
class Given(Edit):
    """Weights or heads in place of those that the model computes."""

    weights: torch.Tensor | None = None
    heads: torch.Tensor | None = None

    def reweigh(self, weights):
        return weights if self.weights is None else self.weights

    def mix(self, weights, value):
        return super().mix(weights, value) if self.heads is None else self.heads


class Rescored(Edit):
    """Scores that are computed in another way."""

    def score(self, query, key, scale):
        return super().score(query, key, scale) + 1


@pytest.mark.parametrize("family", TAKEN_APART)
def test_what_is_put_into_the_steps_of_attention_is_what_the_model_goes_on_with(family, of_family):
    watched = of_family(family)
    torch.manual_seed(3)
    edits = watched.everywhere(
        lambda heads, queries, keys: AttentionEdit(weights=torch.rand(1, heads, queries, keys))
    )
    expected, _ = watched.run(edits)

    by_steps = {site: Given(weights=edit.weights) for site, edit in edits.items()}
    logits, trace = watched.run(by_steps)
    assert torch.allclose(logits, expected, atol=1e-5)
    heads = {site: Given(heads=record.heads) for site, record in trace.attention.items()}
    assert torch.allclose(watched.run(heads)[0], expected, atol=1e-5)


@pytest.mark.parametrize("family", TAKEN_APART)
def test_opened_cells_and_another_scale_act_as_a_softmax_of_ones_own(
    family, of_family, monkeypatch
):
    watched = of_family(family)
    edits = watched.everywhere(
        lambda heads, queries, keys: AttentionEdit(open=torch.rand(queries, keys) < 0.5, scale=0.3)
    )
    logits, trace = watched.run(edits)
    softmax, left = F.softmax, list(edits.items())

    def our_softmax(given, *args, **kwargs):
        site, edit = left.pop(0)
        record = trace.attention[site]  # q.k and the bias are compared with the model's elsewhere
        scores = record.query @ record.key.transpose(-2, -1) * 0.3
        scores = scores if record.bias is None else scores + record.bias
        closed = (given.view(scores.shape) < -1e4) & ~edit.open
        weights = softmax(scores.masked_fill(closed, -1e30), *args, **kwargs)
        assert torch.allclose(record.weights, weights, atol=1e-5)
        return weights.view(given.shape)

    monkeypatch.setattr(F, "softmax", our_softmax)
    with torch.no_grad():
        expected = watched.model(**watched.inputs)[0]
    assert not left
    assert torch.allclose(logits, expected, atol=1e-5)


@pytest.mark.parametrize("family", ["MPNet", "RoFormer", "FSMT", "LongT5"])
def test_closing_a_key_acts_as_the_models_own_mask(family, of_family):
    watched = of_family(family)

    def edit_of(heads, queries, keys):
        block = torch.zeros(queries, keys, dtype=torch.bool)
        block[:, KEY] = True
        return AttentionEdit(block=block if keys == LENGTH else None)

    logits, trace = watched.run(watched.everywhere(edit_of))
    visible = torch.ones(1, LENGTH, dtype=torch.long)
    visible[:, KEY] = 0
    masked = watched._replace(inputs=watched.inputs | {"attention_mask": visible})
    expected, expected_trace = masked.run()
    assert torch.allclose(logits, expected, atol=1e-5)
    for site, record in trace.attention.items():
        theirs = expected_trace.attention[site]
        # A masked token's own row, which nobody reads, is for LongT5 to fill as it likes.
        rows = [row for row in range(record.weights.size(2)) if row != KEY]
        for part in ("masked_scores", "weights"):
            ours, expected = getattr(record, part)[:, :, rows], getattr(theirs, part)[:, :, rows]
            assert torch.allclose(ours, expected, atol=1e-5)


@pytest.mark.parametrize("family", ["XGLM", "XLNet", "LongT5"])
def test_queries_without_a_key_take_nothing(family, of_family):
    watched = of_family(family)
    everything = watched.everywhere(
        lambda heads, queries, keys: AttentionEdit(block=torch.ones(queries, keys) > 0)
    )
    logits, trace = watched.run(everything)
    assert all(not record.weights.any() for record in trace.attention.values())
    removed, _ = watched.run(
        watched.everywhere(lambda heads, *_: AttentionEdit(gate=torch.zeros(heads)))
    )
    assert torch.allclose(logits, removed, atol=1e-6)


@pytest.mark.parametrize("family", ["DeBERTa-v2", "XGLM", "LongT5"])
def test_edits_of_a_batch_are_those_of_each_row(family, of_family):
    watched = of_family(family)

    def edit_of(heads, queries, keys):
        block = torch.rand(3, heads, queries, keys) < 0.2
        return AttentionEdit(gate=torch.rand(3, heads), block=block)

    edits = watched.everywhere(edit_of)
    three = {name: ids.expand(3, -1) for name, ids in watched.inputs.items()}
    logits, _ = watched._replace(inputs=three).run(edits)
    for row in range(3):
        of_row = {
            site: AttentionEdit(gate=edit.gate[row], block=edit.block[row])
            for site, edit in edits.items()
        }
        assert torch.allclose(watched.run(of_row)[0], logits[row : row + 1], atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_cells_that_are_closed_further_act_as_closed_ones(family, of_family):
    watched = of_family(family)
    plain = watched.everywhere(
        lambda heads, queries, keys: AttentionEdit(block=torch.rand(heads, queries, keys) < 0.2)
    )
    further = {site: Closed(UNCHANGED, edit.block[None]) for site, edit in plain.items()}
    assert torch.allclose(watched.run(further)[0], watched.run(plain)[0], atol=1e-6)


class Sharper(Edit):
    """An edit of one's own."""

    def score(self, query, key, scale):
        return super().score(query, key, 2 * scale)


@pytest.mark.parametrize("family", TAKEN_APART)
def test_an_edit_of_ones_own_acts_in_code_of_its_own_too(family, of_family):
    watched = of_family(family)
    sharper = watched.everywhere(lambda *_: Sharper())
    (logits, _), (before, trace) = watched.run(sharper), watched.run()
    twice = {
        site: AttentionEdit(scale=2 * (record.scale or record.query.size(-1) ** -0.5))
        for site, record in trace.attention.items()
    }
    assert torch.allclose(logits, watched.run(twice)[0], atol=1e-5)
    assert not torch.allclose(logits, before, atol=1e-5)


@pytest.mark.parametrize("family", ["Falcon", "XGLM", "LongT5"])
def test_one_backward_gives_the_gradients_of_all_weights(family, of_family):
    model, inputs, attachment = of_family(family)
    gates = {
        site: torch.ones(attachment.kinds[site.kind][1], requires_grad=True)
        for site in sites_of(attachment)
    }
    trace = Trace()
    edits = {site: AttentionEdit(gate=gate) for site, gate in gates.items()}
    with attachment.watching(Run(edits, trace)):
        result = model(**inputs)[0][0, -1, 7]
    weights = [trace.attention[site].weights for site in gates]
    by_weight = torch.autograd.grad(result, weights, retain_graph=True)
    by_gate = torch.autograd.grad(result, list(gates.values()))
    for weight, gradient, of_gate in zip(weights, by_weight, by_gate, strict=True):
        # A head is linear in its weights, so that its gate's gradient sums theirs.
        assert torch.allclose((weight * gradient).sum((0, 2, 3)), of_gate, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("family", WRITERS)
def test_steps_with_a_cache_are_rows_of_the_whole(family, of_family):
    watched = of_family(family)
    ids = watched.inputs["input_ids"]
    block = torch.zeros(LENGTH, LENGTH, dtype=torch.bool)
    block[6:, [1, 4, 7]] = True
    edits = watched.everywhere(lambda heads, *_: AttentionEdit(torch.rand(heads), block))
    logits, whole = watched.run(edits)
    trace, cache = Trace(), None
    with torch.no_grad(), watched.attachment.watching(Run(edits, trace)):
        for start, end in [(0, 5), (5, 6), (6, 7), (7, 11), (11, 12)]:
            step = watched.model(
                input_ids=ids[:, start:end],
                attention_mask=torch.ones(1, end),
                past_key_values=cache,
                use_cache=True,
            )
            cache = step.past_key_values
            assert torch.allclose(step.logits, logits[:, start:end], atol=1e-4)
            for site, record in trace.attention.items():
                rows = whole.attention[site].weights[:, :, start:end, :end]
                assert torch.allclose(record.weights, rows, atol=1e-5)
    with torch.no_grad(), watched.attachment.watching(Run(edits, trace), first_query=12):
        step = watched.model(
            input_ids=ids[:, 12:], attention_mask=torch.ones(1, 13), past_key_values=cache
        )
    assert torch.allclose(step.logits, logits[:, 12:], atol=1e-4)


def test_sites_that_are_not_wanted_in_full_keep_their_weights_in_bytes(of_family):
    watched = of_family("FSMT")
    wanted = Site("cross", 1)
    _, full = watched.run()
    _, trace = watched.run(full=[wanted])
    assert list(trace.attention) == [wanted]
    assert len(trace.overview) == len(full.attention) - 1
    assert torch.allclose(trace.weights("encoder"), full.weights("encoder"), atol=0.5 / 255)


@pytest.mark.parametrize("family", ["DeBERTa-v2", "Bloom", "LongT5"])
def test_threads_with_different_edits_share_a_model(family, of_family):
    watched = of_family(family)
    edits = [{}] + [
        watched.everywhere(lambda heads, *_: AttentionEdit(gate=torch.eye(heads)[head]))  # noqa: B023
        for head in range(3)
    ]
    expected = [watched.run(edit)[0] for edit in edits]
    with torch.no_grad():
        plain = watched.model(**watched.inputs)[0]

    def call(number):
        if number % 5 == 4:  # some threads do not watch
            with torch.no_grad():
                return torch.equal(watched.model(**watched.inputs)[0], plain)
        logits, trace = watched.run(edits[number % 5])
        complete = len(trace.attention) == len(watched.attachment.sites.modules)
        return complete and torch.equal(logits, expected[number % 5])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(call, range(60)))


def test_softmaxes_outside_of_attention_pass_untouched(of_family):
    model, inputs, attachment = of_family("GPT-J")
    trace = Trace()
    with torch.no_grad(), attachment.watching(Run(trace=trace)):
        logits = model(**inputs)[0]
        chances = logits.softmax(dim=-1)
    assert torch.equal(chances, torch.softmax(logits, dim=-1))
    assert len(trace.attention) == 2


@pytest.mark.parametrize("name", REFUSED)
def test_models_whose_maps_would_be_incomplete_are_refused(name):
    model = build(*REFUSED[name])
    with pytest.raises(LoadingError, match=f"{name}.*Choose a"):
        attach_code(model, inputs_of(model), name)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (AttentionEdit(open=torch.ones(2, 2) > 0), "cannot be opened"),
        (AttentionEdit(scale=0.5), "scale as trained"),
        (Rescored(), "to itself"),
        (PositionEdit(off=True), "positions as trained"),
        (AttentionEdit(weights=torch.ones(2, 2)), "of the same length"),
    ],
)
def test_what_cannot_be_changed_is_said(edit, message, of_family):
    with pytest.raises(ValueError, match=message):
        of_family("XGLM").run({Site("decoder", 0): edit})


def test_a_call_that_attends_otherwise_is_not_shown_half(of_family):
    watched = of_family("XLNet")
    two_streams = {"target_mapping": torch.ones(1, 1, LENGTH)}
    with pytest.raises(ValueError, match="cannot be shown whole"):
        watched._replace(inputs=watched.inputs | two_streams).run()
    with (
        pytest.raises(ValueError, match="cannot be shown whole"),
        watched.attachment.watching(Run(trace=Trace())),
    ):
        pass  # no call at all
    assert torch.equal(watched.run()[0], watched.run()[0])


def test_blocks_are_joined_and_split_again():
    cells, length = torch.rand(2, 3, 7, 7), 3
    blocks = split_blocks(cells, length, outside=-1.0)
    assert blocks.shape == (2, 3, 3, 3, 9)
    near = torch.tensor([[abs(query // 3 - key // 3) <= 1 for key in range(7)]
                         for query in range(7)])  # fmt: skip
    assert torch.equal(join_blocks(blocks, 7, outside=-2.0), cells.where(near, -2.0))
    assert torch.equal(blocks[:, 1, :, 2, 0:7], cells[:, :, 5, 0:7])
    assert (blocks[:, 0, :, :, :3] == -1).all()
