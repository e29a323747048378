"""Models in memory, opened: five ways to write attention by hand, and families of transformers."""

import copy

import pytest
import torch
import transformers
from torch import nn

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.attention import AttentionEdit
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.hub import LoadingError
from headlight.model.stream import ScoreAddress
from headlight.model.transformer.trace import Run, Site
from headlight.model.translator import load
from headlight.wings.any_module.opening import open_model
from tests.matrix import first_of
from tests.model.library import families
from tests.model.library.shapes import (
    HEADS,
    SHAPES,
    VOCABULARY,
    WIDTH,
    Attention,
    Classifier,
    SmallGPT,
    build,
    call,
    texts,
)

SOURCE, TARGET = "5 3 9 4 8 2 0", "3 4 5 7"
KINDS = {
    "annotated": {"encoder": (2, HEADS), "decoder": (3, HEADS), "cross": (3, HEADS)},
    "one matrix": {"decoder": (3, HEADS)},
    "fused": {"decoder": (3, HEADS)},
    "einsum": {"decoder": (2, HEADS)},
    "nn.Transformer": {"encoder": (2, HEADS), "decoder": (2, HEADS), "cross": (2, HEADS)},
    "nn.MultiheadAttention": {"encoder": (1, HEADS)},
}
# The modules that attend at each site, and what their heads go into.
ATTENDING = {
    "annotated": ("{kind}.{layer}.self_attn", "{kind}.{layer}.src_attn", "linears.3"),
    "one matrix": ("h.{layer}.attn", "", "c_proj"),
    "fused": ("h.{layer}.attn", "", "c_proj"),
    "einsum": ("layers.{layer}", "", "to_out"),
}


@pytest.fixture(scope="module")
def opened():
    made = {}

    def get(shape):
        if shape not in made:
            model = build(shape)
            start, end = (1, 2) if SHAPES[shape][2] == 2 else (None, None)
            made[shape] = model, open_model(model, call=SHAPES[shape][1], start=start, end=end)
        return made[shape]

    return get


def traced(reader, **options):
    return reader.trace(SOURCE, TARGET if reader.called.two_sided else None, **options)


def ids_of(trace):
    sides = (trace.source_tokens, trace.target_tokens)
    return [torch.tensor([[token.id for token in side]]) for side in sides if side]


def everywhere(reader, trace, edit_of):
    torch.manual_seed(3)
    return {
        site: edit_of(
            reader.shape.heads(site.kind),
            len(trace.query_tokens(site)),
            len(trace.key_tokens(site)),
        )
        for site in reader.shape.sites
    }


@pytest.mark.parametrize("shape", SHAPES)
@torch.no_grad()
def test_recorded_is_unrecorded_and_the_kinds_are_found(shape, opened):
    model, reader = opened(shape)
    assert reader.shape.kinds == KINDS[shape]
    assert max(reader.parity()) < 1e-5
    trace = traced(reader)
    expected = call(model, shape, *ids_of(trace))
    logits = trace.logits[:, 0] if expected.dim() == 2 else trace.logits
    torch.testing.assert_close(logits, expected, atol=1e-5, rtol=1e-5)
    assert set(trace.attention) == set(reader.shape.sites)
    assert not {"take apart", "open cells"} & set(reader.missing)
    for site, record in trace.attention.items():
        sizes = len(trace.query_tokens(site)), len(trace.key_tokens(site))
        assert record.weights.shape == (1, HEADS, *sizes)
        scores = record.query @ record.key.transpose(-2, -1) * record.scale
        scores = scores if record.bias is None else scores + record.bias
        closed = record.masked_scores.isneginf()
        torch.testing.assert_close(scores, record.scores, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(record.masked_scores[~closed], record.scores[~closed])
        torch.testing.assert_close(record.masked_scores.softmax(-1), record.weights)
        torch.testing.assert_close(record.weights @ record.value, record.heads)
        assert bool(closed.any()) == (site.kind == "decoder")


@pytest.mark.parametrize("shape", SHAPES)
@torch.no_grad()
def test_the_model_and_its_weights_stay_those_of_their_owner(shape, opened):
    model, reader = opened(shape)
    pairs = zip(model.parameters(), reader.model.parameters(), strict=True)
    assert all(ours is theirs for ours, theirs in pairs)
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in model.modules())
    inputs = texts(shape, rows=3)
    assert torch.equal(call(model, shape, *inputs), call(build(shape), shape, *inputs))


@pytest.mark.parametrize("shape", ATTENDING)
@torch.no_grad()
def test_a_gate_is_what_a_hook_before_the_output_projection_does(shape, opened):
    model, reader = opened(shape)
    trace = traced(reader)
    edits = everywhere(reader, trace, lambda heads, *_: AttentionEdit(gate=torch.rand(heads)))
    edited = traced(reader, edits=edits)
    assert not torch.allclose(edited.logits, trace.logits, atol=1e-3)
    own, crossed, output = ATTENDING[shape]
    hooked = copy.deepcopy(model)
    for site, edit in edits.items():
        name = (crossed if site.kind == "cross" else own).format(
            kind="decoder" if site.kind == "cross" else site.kind, layer=site.layer
        )
        gates = edit.gate.repeat_interleave(WIDTH // HEADS)
        hooked.get_submodule(f"{name}.{output}").register_forward_pre_hook(
            lambda _, given, gates=gates: (given[0] * gates,)
        )
    expected = call(hooked, shape, *ids_of(trace))
    torch.testing.assert_close(edited.logits, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(reader.rerun(trace, Run(edits)), edited.logits)


@pytest.mark.parametrize("shape", SHAPES)
@torch.no_grad()
def test_edited_cells_and_scales_are_those_of_plain_code(shape, opened):
    _, reader = opened(shape)
    trace = traced(reader)

    def edit_of(heads, queries, keys):
        cells = torch.rand(2, heads, queries, keys)
        return AttentionEdit(block=cells[0] < 0.2, open=cells[1] < 0.3, scale=0.7)

    edits = everywhere(reader, trace, edit_of)
    edited = traced(reader, edits=edits)
    frozen = {}
    for site, record in edited.attention.items():
        before, edit = trace.attention[site].masked_scores.isneginf(), edits[site]
        closed = (before & ~edit.open) | edit.block
        scores = record.query @ record.key.transpose(-2, -1) * 0.7
        scores = scores if record.bias is None else scores + record.bias
        weights = scores.masked_fill(closed, -1e30).softmax(-1)
        weights = weights * ~closed.all(dim=-1, keepdim=True)
        torch.testing.assert_close(record.weights, weights, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(weights @ record.value, record.heads, atol=1e-5, rtol=1e-5)
        frozen[site] = AttentionEdit(weights=weights)
    # What the model computes on is these heads: the weights put in give the same outputs.
    again = traced(reader, edits=frozen)
    torch.testing.assert_close(again.logits, edited.logits, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", ["annotated", "fused", "nn.Transformer"])
@torch.inference_mode()
def test_rows_of_edits_are_each_its_own_run(shape, opened):
    _, reader = opened(shape)
    trace, site = traced(reader), reader.shape.sites[-1]
    batch = reader.rerun(trace, Run({site: AttentionEdit(gate=torch.eye(HEADS))}))
    for head in range(HEADS):
        gate = torch.eye(HEADS)[head]
        row = reader.rerun(trace, Run({site: AttentionEdit(gate=gate)}))
        torch.testing.assert_close(batch[head : head + 1], row, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("shape", ["annotated", "one matrix", "nn.Transformer"])
def test_what_it_writes_is_what_the_whole_text_predicts(shape, opened):
    _, reader = opened(shape)
    decoding = reader.write(SOURCE, Strategy("beam", beam_size=2), longest=4)
    trace = reader.trace(SOURCE, decoding.writing)
    ids = [token.id for token in decoding.writing.target_tokens]
    rows = trace.logits[0].log_softmax(-1)[-len(ids) - (not decoding.writing.finished) :]
    chosen = [row[index].item() for row, index in zip(rows, ids, strict=False)]
    assert chosen == pytest.approx(decoding.writing.log_probabilities[: len(chosen)], abs=1e-4)
    assert not reader.called.two_sided or reader.objective(trace).ids == tuple(ids)
    with pytest.raises(ValueError, match=r"^Another model wrote this"):
        reader.trace(SOURCE, load("en-fr").write("I love my cat.").writing)


def test_a_head_adds_its_part_of_the_output_projection(opened):
    model, reader = opened("one matrix")
    trace, site = traced(reader), Site("decoder", 0)
    parts = trace.attention[site].heads[0] @ reader.heads_to_stream(site)  # (H, T, WIDTH)
    assert "add up heads" not in reader.missing
    made = []
    hook = model.h[0]["attn"].register_forward_hook(lambda *call: made.append(call[2]))
    with torch.no_grad():
        model(*ids_of(trace))
    hook.remove()
    torch.testing.assert_close(parts.sum(0) + model.h[0]["attn"].c_proj.bias, made[0][0])


def test_texts_go_through_ones_own_functions():
    letters = "abcdefghijklmnopqrstuvwxyz ."
    reader = open_model(
        build("one matrix"),
        (lambda text: map(letters.index, text), lambda ids: "".join(letters[i] for i in ids)),
    )
    tokens = reader.trace("a cat.").target_tokens
    assert [token.id for token in tokens] == [0, 26, 2, 0, 19, 27]
    assert "".join(token.text for token in tokens if token.start < token.end) == "acat."
    assert [token.word for token in tokens if token.start < token.end] == [
        0,
        1,
        1,
        1,
        1,
    ]  # a space begins its word
    with pytest.raises(ValueError, match="cannot read this text"):
        reader.trace("Ä")


def test_without_a_tokenizer_a_text_is_numbers(opened):
    _, reader = opened("one matrix")
    with pytest.raises(ValueError, match="'cat' is none"):
        reader.trace("5 cat")
    with pytest.raises(ValueError, match=f"knows {VOCABULARY} tokens, from 0, .* {VOCABULARY}"):
        reader.trace(f"5 {VOCABULARY}")
    with pytest.raises(ValueError, match=r"cannot read ids of the shape \(1, 2\).* max_tokens="):
        reader.called.logits(torch.zeros(1, 2))  # no whole numbers
    with pytest.warns(UserWarning, match=f"at most {reader.called.max_tokens} tokens"):
        reader.trace("5", "6 " * reader.called.max_tokens)


class Narrow(nn.Module):
    """Attends to its first tokens only."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 8)
        self.pooling = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, ids):
        states = self.embedding(ids)
        return self.pooling(states[:, :3], states, states)[0]


class Attendless(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(9, 9)

    def forward(self, ids):
        return self.embedding(ids).softmax(dim=-1)


class Several(Attendless):
    def forward(self, ids, mask, states):
        return self.embedding(ids)


class LastOnly(SmallGPT):
    def forward(self, idx):
        return super().forward(idx)[0][:, -1:]


def quantized():
    model = Classifier().eval()
    model.out.weight = nn.Parameter(torch.ones(3, WIDTH, dtype=torch.int8), requires_grad=False)
    return model


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Attendless().eval(), "attended nowhere"),
        (Classifier, "in training mode"),
        (lambda: torch.compile(Classifier().eval()), "is compiled"),
        (quantized, "is quantized"),
        (lambda: Classifier().eval().to("meta"), "has no weights yet"),
        (lambda: Several().eval(), "takes ids, mask, states"),
        (lambda: Narrow().eval(), r"pooling \(2, 2, 3, 7\)"),
        (lambda: nn.Sequential(nn.Linear(4, 4)).eval(), r"cannot read ids of the shape \(2, 7\)"),
        (lambda: "gpt2", "not a torch.nn.Module"),
    ],
)
def test_what_cannot_be_opened_is_said_in_a_sentence(make, message):
    with pytest.raises(LoadingError, match=message):
        open_model(make())


def test_a_model_that_differs_when_it_is_watched_is_refused_with_the_number():
    class Random(Classifier):
        def forward(self, ids):
            return super().forward(ids) + torch.rand(3)

    with pytest.raises(LoadingError, match=r"differs by 0\.\d+"):
        open_model(Random().eval())


def test_a_kind_that_the_shapes_do_not_show_can_be_told():
    model = build("nn.MultiheadAttention")
    reader = open_model(model, kinds={"attention": "decoder"})
    assert reader.shape.kinds == {"decoder": (1, HEADS)}
    with pytest.raises(LoadingError, match="no module 'attn'"):
        open_model(model, kinds={"attn": "decoder"})


def test_abilities_that_it_lacks_are_said_where_they_are_asked_for(opened):
    _, reader = opened("annotated")
    for options, message in (
        ({"second": "3"}, "one text"),
        ({"masked": [1]}, "hides a word"),
        ({"pad_to": 9}, "open it with padding="),
        ({"edits": {"encoder": PositionEdit(off=True)}}, "cannot be moved"),
    ):
        with pytest.raises(ValueError, match=message):
            traced(reader, **options)
    site = reader.shape.sites[0]
    with pytest.raises(ValueError, match="Only the attention of this model is recorded"):
        reader.score_parts(traced(reader), {}, ScoreAddress(site, head=0, query=1, key=0))
    torch.manual_seed(4)
    last = open_model(LastOnly(fused=True).eval())
    assert "every token" in last.missing["write"]
    assert last.trace("1 2 3").logits is None
    silent = open_model(build("nn.Transformer"))
    with pytest.raises(ValueError, match="give it a target"):
        silent.trace(SOURCE)


def test_heads_of_modules_that_share_their_weights_have_a_layer_for_each_call():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(9, WIDTH)
            self.attention = Attention()

        def forward(self, ids):
            states = self.embedding(ids)
            for _ in range(2):
                states = states + self.attention(states, states, states, None)
            return states

    reader = open_model(Twice().eval())
    assert reader.shape.kinds == {"encoder": (2, HEADS)}
    without = AttentionEdit(gate=torch.zeros(HEADS))
    plain = reader.trace("1 2 3")
    second = reader.trace("1 2 3", edits={Site("encoder", 0): without})
    one, other = (plain.attention[Site("encoder", 0)], second.attention[Site("encoder", 1)])
    assert not torch.equal(one.weights, other.weights)
    assert not second.attention[Site("encoder", 0)].heads.any()


@pytest.mark.parametrize(
    "family", first_of([family for family in families.FAMILIES if family != "GPT-OSS"])
)
def test_families_of_transformers_open_in_memory_as_from_a_folder(family):
    model = families.make_model(family, "eager" if family == "Gemma 2" else "sdpa")
    inputs = families.make_inputs(family)
    reader = open_model(model)  # plain ids
    ids = [" ".join(map(str, part[0].tolist())) for part in inputs.values()]
    start = inputs.get("decoder_input_ids", [[None]])[0][0]
    trace = reader.trace(*ids) if start is not None else reader.trace(ids[0])
    theirs = families.eager(family)
    for kind, prefix in families.kinds(family).items():
        name = {"encoder": "encoder_attentions", "decoder": "decoder_attentions",
                "cross": "cross_attentions"}[prefix] if prefix else "attentions"  # fmt: skip
        weights = torch.cat(getattr(theirs, name))
        torch.testing.assert_close(trace.weights(kind), weights, atol=2e-6, rtol=1e-5)


@pytest.mark.matrix
def test_a_model_of_transformers_with_its_tokenizer_reads_as_one_from_its_folder(
    transformers_folders, load
):
    for name in ("GPT-2", "BART", "DistilBERT"):
        folder, expected = transformers_folders[name], load(name)
        model = type(expected.model).from_pretrained(folder).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        reader = open_model(model, tokenizer)
        assert model.config._attn_implementation == "sdpa"
        assert all(
            ours is theirs
            for ours, theirs in zip(model.parameters(), reader.model.parameters(), strict=True)
        )
        assert reader.shape == expected.shape
        assert set(reader.missing) == set(expected.missing)
        target = "J'aime." if name == "BART" else None
        ours, theirs = (each.trace("I love my cat.", target) for each in (reader, expected))
        for site, record in theirs.attention.items():
            torch.testing.assert_close(ours.attention[site].weights, record.weights)
