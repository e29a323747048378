"""Texts written by models of transformers, against the library's generate and teacher forcing."""

import json
import shutil

import pytest
import torch

from headlight.model.decoding.steps import stack_rows
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.attention import AttentionEdit
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from tests.matrix import first_of
from tests.model.library.conftest import END, PAD

TEXT, TEXTS = "I love my cat.", ("I love my cat.", "The old house is on the hill.", "We read")
PAIRED, ALONE = ("T5", "BART", "Marian", "M2M100"), ("GPT-2", "Llama")
NAMES = PAIRED + ALONE
STRATEGIES = [
    Strategy(),
    Strategy("beam", beam_size=4),
    Strategy("sample", temperature=3.0, top_k=20, seed=4),
]
CHAT = "{% for m in messages %}<s>{{ m.role }}: {{ m.content }}</s>{% endfor %}<s>"


@pytest.fixture(params=NAMES)
def reader(request, load):
    return load(request.param)


def ids_of(pieces):
    return [piece.id for piece in pieces]


def generate(reader, text, **options):
    """What generate of transformers writes after the same beginning: ids, and its own outputs."""
    pair = reader.model.config.is_encoder_decoder
    inputs = {"input_ids": torch.tensor([ids_of(reader.tokens.read(text))])}
    if pair:
        inputs["decoder_input_ids"] = torch.tensor([ids_of(reader.writer.start())])
    begun = inputs["decoder_input_ids" if pair else "input_ids"].size(1)
    outputs = reader.model.generate(
        **inputs,
        attention_mask=torch.ones_like(inputs["input_ids"]),
        do_sample=False,
        max_new_tokens=16,
        return_dict_in_generate=True,
        output_scores=True,
        **options,
    )
    return outputs.sequences[0, begun:].tolist(), outputs


def read_at_once(reader, decoding, steps, edits):
    """Logits (N, V) of the steps, and trace, of one pass over all that they read."""
    read = torch.tensor([ids_of(steps[-1].read)])
    inputs = {"input_ids": read}
    if decoding.writing.source_tokens:
        source = torch.tensor([ids_of(decoding.writing.source_tokens)])
        inputs = {"input_ids": source, "decoder_input_ids": read}
    trace = Trace()
    with torch.inference_mode(), reader.attached.watching(Run(edits, trace)):
        logits = reader.model(**inputs, use_cache=False).logits
    return logits[0, -len(steps) :], trace


def expect_one_pass(reader, decoding, steps, edits):
    """The steps' probabilities, weights and masks are those of one pass over their text."""
    logits, trace = read_at_once(reader, decoding, steps, edits)
    result = torch.stack([step.log_probabilities for step in steps])
    torch.testing.assert_close(result, logits.log_softmax(-1), atol=1e-4, rtol=0)
    for kind in {site.kind for site in steps[0].weights}:
        weights = stack_rows([step.weights for step in steps], kind)
        expected = trace.weights(kind)[:, :, -len(steps) :]
        torch.testing.assert_close(weights, expected, atol=1e-5, rtol=0)
        visible = stack_rows([step.visible for step in steps], kind)
        for layer, heads in enumerate(visible):
            record = trace.attention[Site(kind, layer)]
            assert torch.equal(heads, record.masked_scores[0, :, -len(steps) :].isfinite())


def edits_of(reader, positions=40):
    """A gate, closed cells and a scale, somewhere at every kind of attention."""
    closed = torch.zeros(positions, positions, dtype=torch.bool)
    closed[5:, 1] = closed[9, 2] = True
    edits = {}
    for kind, (layers, heads) in reader.shape.kinds.items():
        gate = torch.ones(heads)
        gate[0] = 0.25
        edits[Site(kind, 0)] = AttentionEdit(gate=gate, block=closed)
        edits[Site(kind, layers - 1)] = AttentionEdit(gate=gate, scale=0.7)
    return edits


@pytest.mark.parametrize("text", TEXTS)
def test_greedy_writes_what_generate_writes(text, reader):
    decoding = reader.write(text, longest=16)
    ids, outputs = generate(reader, text)
    assert ids_of(decoding.writing.target_tokens) == ids
    scores = torch.cat(outputs.scores).log_softmax(-1)
    result = torch.stack([step.log_probabilities for step in decoding])
    torch.testing.assert_close(result, scores, atol=1e-4, rtol=0)


@pytest.mark.matrix
@pytest.mark.parametrize("penalty", first_of([1.0, 0.0, 2.0]))
@pytest.mark.parametrize("text", TEXTS)
def test_a_beam_finds_what_the_beam_of_generate_finds(text, penalty, reader):
    strategy = Strategy("beam", beam_size=4, length_penalty=penalty)
    decoding = reader.write(text, strategy, longest=16)
    writing = decoding.writing
    options = {"num_beams": 4, "length_penalty": penalty, "early_stopping": "never"}
    ids, outputs = generate(reader, text, **options)
    assert ids_of(writing.target_tokens) == ids
    score = strategy.score(writing.score, len(writing.target_tokens))
    assert score == pytest.approx(outputs.sequences_scores.item(), abs=1e-5)
    assert decoding.last_of(decoding.path).score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("name", ["BART", "GPT-2"])
def test_any_of_several_end_tokens_ends(name, load, monkeypatch):
    reader = load(name)
    own = ids_of(reader.write(TEXT, longest=16).writing.target_tokens)
    place = next(i for i in range(1, 16) if own[i] not in own[:i])
    ends = [reader.model.generation_config.eos_token_id, own[place]]
    monkeypatch.setattr(reader.model.generation_config, "eos_token_id", ends)
    decoding = reader.write(TEXT, longest=16)
    assert ids_of(decoding.writing.target_tokens) == own[: place + 1] == generate(reader, TEXT)[0]
    assert decoding.writing.finished
    assert decoding.last_of(decoding.path).ended
    assert not reader.write(TEXT, longest=place).writing.finished


@pytest.mark.parametrize("edited", [False, True], ids=["as trained", "edited"])
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.strategy)
def test_every_step_is_that_of_one_pass(strategy, edited, reader):
    edits = edits_of(reader) if edited else {}
    decoding = reader.write(TEXT, strategy, longest=12, edits=edits)
    assert [step.token.id for step in decoding] == ids_of(decoding.writing.target_tokens)
    expect_one_pass(reader, decoding, decoding.steps, edits)
    total = sum(step.log_probability for step in decoding)
    assert decoding.writing.score == pytest.approx(total, abs=1e-4)


def test_every_node_of_a_beam_has_the_attention_of_its_own_text(reader):
    edits = edits_of(reader)
    decoding = reader.write(TEXT, Strategy("beam", beam_size=3), longest=8, edits=edits)
    dropped = 0
    for length, nodes in enumerate(decoding.tree):
        for position in range(0, len(nodes), 2):
            steps = decoding.steps_to(decoding.path_to(length, position))
            expect_one_pass(reader, decoding, steps, edits)
            dropped += not nodes[position].kept
    assert dropped


@pytest.mark.parametrize("name", ["BART", "GPT-2"])
def test_with_look_ahead_open_each_step_is_that_of_its_prefix(name, load):
    reader = load(name)
    layers, _ = reader.shape.kinds["decoder"]
    everything = torch.ones(40, 40, dtype=torch.bool)
    edits = {Site("decoder", layer): AttentionEdit(open=everything) for layer in range(layers)}
    decoding = reader.write(TEXT, longest=5, edits=edits)
    for length in range(1, len(decoding) + 1):
        step = decoding[length - 1]
        logits, trace = read_at_once(reader, decoding, decoding.steps[:length], edits)
        expected = logits[-1].log_softmax(-1)
        torch.testing.assert_close(step.log_probabilities, expected, atol=1e-4, rtol=0)
        for site, weights in step.weights.items():
            expected = trace.attention[site].weights[0, :, -1]
            torch.testing.assert_close(weights, expected, atol=1e-5, rtol=0)


def test_a_forced_beginning_is_gone_on_from(reader):
    plain = reader.write(TEXT, longest=10)
    own = [step.token.id for step in plain]
    assert reader.write(TEXT, longest=10, forced=own[:3]).writing == plain.writing
    other = plain[2].top(2)[1].token
    branch = reader.write(TEXT, longest=10, forced=[*own[:2], other.id])
    assert [step.token.id for step in branch][:3] == [*own[:2], other.id]
    assert branch[2].token == other
    torch.testing.assert_close(branch[2].log_probabilities, plain[2].log_probabilities)
    expect_one_pass(reader, branch, branch.steps, {})


def test_a_seed_draws_the_same_and_another_seed_does_not(reader):
    first, second = (Strategy("sample", temperature=3.0, seed=seed) for seed in (1, 2))
    texts = [
        reader.write(TEXT, strategy, longest=12).writing for strategy in (first, first, second)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_the_steps_read_what_was_written_so_far(reader):
    decoding = reader.write(TEXT, longest=8)
    writing = decoding.writing
    begun = len(decoding.begun)
    for place, step in enumerate(decoding):
        assert step.read == [*decoding.begun, *writing.target_tokens[:place]]
        assert step.candidate(step.token.id).token == step.token == writing.target_tokens[place]
    assert decoding.last_of(decoding.path).text == writing.text
    assert decoding[0].weights[Site("decoder", 0)].size(-1) == begun
    every = reader.tokens.decode(
        [piece.id for piece in (*decoding[-1].read, decoding[-1].token) if not piece.is_special]
    )
    if writing.source_tokens:
        assert (every, writing.source) == (writing.text, TEXT)
        assert decoding.begun[0].is_special
    else:
        assert (every, writing.source) == (TEXT + writing.text, "")
        assert [piece.text for piece in decoding.begun] == [
            piece.text for piece in reader.tokens.read(TEXT)
        ]


DEMANDS = [
    {"no_repeat_ngram_size": 1},
    {"repetition_penalty": 1.8},
    {"suppress_tokens": list(range(40, 300))},
    {"min_length": 14},
    {"forced_eos_token_id": 1},
    {"bad_words_ids": [[index] for index in range(50, 200)]},
]


@pytest.mark.matrix
@pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: next(iter(demand)))
@pytest.mark.parametrize("name", ["Marian", "GPT-2"])
def test_what_the_generation_config_demands_is_done(name, demand, load, monkeypatch):
    reader = load(name)
    for key, value in demand.items():
        monkeypatch.setattr(reader.model.generation_config, key, value)
    for beams in (1, 3):
        ids, outputs = generate(reader, TEXT, num_beams=beams, early_stopping="never")
        strategy = Strategy("beam", beam_size=beams) if beams > 1 else Strategy()
        writing = reader.write(TEXT, strategy, longest=16).writing
        assert ids_of(writing.target_tokens) == ids
        if beams > 1:
            score = writing.score / len(writing.target_tokens)
            assert score == pytest.approx(outputs.sequences_scores.item(), abs=1e-5)


def test_what_is_suppressed_cannot_be_forced(load, monkeypatch):
    reader = load("GPT-2")
    monkeypatch.setattr(reader.model.generation_config, "suppress_tokens", [50])
    with pytest.raises(ValueError, match="cannot write a token with the id 50"):
        reader.write(TEXT, forced=[50])


def test_settings_for_sampling_are_the_strategys_alone(load, monkeypatch):
    reader = load("GPT-2")
    strategy = Strategy("sample", temperature=2.0, seed=3)
    plain = reader.write(TEXT, strategy, longest=8)
    for key, value in {"do_sample": True, "temperature": 0.1, "top_k": 1, "num_beams": 3}.items():
        monkeypatch.setattr(reader.model.generation_config, key, value)
    assert reader.write(TEXT, strategy, longest=8).writing == plain.writing


def test_the_language_is_read_before_writing(load, monkeypatch):
    reader = load("M2M100")
    monkeypatch.setattr(reader.model.generation_config, "forced_bos_token_id", 7)
    start = reader.model.config.decoder_start_token_id
    decoding = reader.write(TEXT, longest=10)
    assert ids_of(decoding.begun) == [start, 7]
    read = torch.tensor([ids_of(decoding.writing.source_tokens)])
    theirs = reader.model.generate(read, max_new_tokens=11, do_sample=False)
    assert theirs[0].tolist() == [start, 7, *ids_of(decoding.writing.target_tokens)]


@pytest.mark.parametrize("name", PAIRED)
def test_a_trace_reads_what_is_written(name, load):
    reader = load(name)
    decoding = reader.write(TEXT)
    read = ids_of(reader.trace(TEXT).target_tokens)
    written = [*ids_of(decoding.begun), *ids_of(decoding.writing.target_tokens)]
    assert read == written[: len(written) - decoding.writing.finished]


@pytest.mark.parametrize("name", ["T5", "Marian"])
def test_padding_that_a_model_writes_is_text(name, load, monkeypatch):
    reader = load(name)
    monkeypatch.setattr(reader.model.generation_config, "suppress_tokens", [*range(1, 400)])
    decoding = reader.write(TEXT, longest=5)
    assert {*ids_of(decoding.writing.target_tokens)} == {PAD}
    alone, padded = (reader.trace(TEXT, decoding.writing, pad_to=pad_to) for pad_to in (None, 20))
    in_batch = Trace()
    reader.read_together([alone, reader.trace(TEXTS[1])], Run(trace=in_batch))
    for kind in ("decoder", "cross"):
        weights = stack_rows([step.weights for step in decoding], kind)
        for trace in (alone, padded, in_batch):
            read = trace.weights(kind)[:, :, : len(decoding), : weights.size(-1)]
            torch.testing.assert_close(weights, read, atol=1e-5, rtol=0)
    assert ids_of(reader.trace(TEXT).target_tokens) == ids_of(
        reader.trace(TEXT, reader.write(TEXT).writing).target_tokens
    )


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_padding_of_the_source_is_not_seen(name, load):
    reader = load(name)
    plain, padded = (reader.write(TEXT, longest=6, pad_to=pad_to) for pad_to in (None, 20))
    assert len(padded.writing.source_tokens) == 20
    read = len(plain.writing.source_tokens)
    for ours, theirs in zip(padded, plain, strict=True):
        site = Site("cross", 0)
        torch.testing.assert_close(ours.weights[site][:, :read], theirs.weights[site])
        assert not ours.visible[site][:, read:].any()


@pytest.fixture
def chatting(load, monkeypatch):
    reader = load("Llama")
    monkeypatch.setattr(reader.tokens.tokenizer, "chat_template", CHAT)
    return reader


def test_a_prompt_stands_in_the_chat_template(chatting):
    decoding = chatting.write(TEXT, longest=4)
    expected = chatting.tokens.tokenizer.apply_chat_template(
        [{"role": "user", "content": TEXT}], add_generation_prompt=True, return_dict=False
    )
    assert ids_of(decoding.begun) == expected
    assert [piece.text for piece in decoding.begun if piece.is_special] == ["<s>", "</s>", "<s>"]
    expect_one_pass(chatting, decoding, decoding.steps, {})
    plain = chatting.write(TEXT, longest=4, chat=False)
    assert plain.begun == chatting.tokens.read(TEXT)


def test_a_prompt_is_cut_with_its_chat_template(chatting):
    word = " cat"
    most = chatting.tokens.max_tokens
    for count in (1, most - 2, most + 1):
        text = word * count
        assert chatting.is_cut(text) == (len(chatting.writer.prompt(text)) > most)
    assert len(chatting.tokens.read(word * (most - 2))) <= most
    assert chatting.is_cut(word * (most - 2))


def test_a_template_that_does_not_take_a_text_says_so(chatting, monkeypatch):
    template = "{{ raise_exception('Roles must alternate.') }}"
    monkeypatch.setattr(chatting.tokens.tokenizer, "chat_template", template)
    with pytest.raises(ValueError, match="Roles must alternate"):
        chatting.write(TEXT)


def test_a_beginning_is_forced_as_it_was_typed(reader):
    pieces = reader.begin("mon chat")
    assert not any(piece.is_special for piece in pieces)
    decoding = reader.write(TEXT, longest=8, forced=ids_of(pieces))
    assert decoding.writing.text.strip().startswith("mon chat")
    assert reader.begin("") == []


def test_a_beginning_with_unknown_characters_is_refused(load):
    with pytest.raises(ValueError, match="no token for"):
        load("T5").begin("☃")


def test_what_cannot_be_done_is_refused_in_a_sentence(load):
    gpt2 = load("GPT-2")
    with pytest.raises(ValueError, match="nothing to read"):
        gpt2.write(" ")
    with pytest.raises(ValueError, match="leaves no room to write"):
        gpt2.write("I love my cat. " * 20)
    with pytest.raises(ValueError, match="9 tokens, but the text may have only 8"):
        gpt2.write(TEXT, forced=[5] * 9, longest=8)
    with pytest.raises(ValueError, match="cannot write a token with the id 999999"):
        gpt2.write(TEXT, forced=[999_999])
    with pytest.raises(ValueError, match="no head that writes"):
        load("RoBERTa").write(TEXT)


@pytest.mark.matrix
def test_writing_stops_where_the_positions_end(reader):
    decoding = reader.write(TEXT, longest=10_000)
    assert len(decoding.begun) + len(decoding) <= reader.tokens.max_tokens
    assert reader.write(TEXT, longest=0).steps == []


def test_an_unrecorded_text_is_the_same(reader):
    decoding = reader.write(TEXT, longest=12)
    source = decoding.writing.source_tokens
    plain = reader.writer.decode(source, decoding.begun, longest=12)
    assert plain.written == ids_of(decoding.writing.target_tokens)
    assert plain.finished == decoding.writing.finished
    assert plain.log_probability == pytest.approx(decoding.writing.score, abs=1e-4)


@pytest.mark.parametrize("ends", [10**9, -1, [END, 10**9], 1.0])
def test_ends_that_a_model_does_not_know_end_nothing(ends, transformers_folders, tmp_path):
    folder = shutil.copytree(transformers_folders["T5"], tmp_path / "model")
    settings = json.loads((folder / "generation_config.json").read_text())
    settings["eos_token_id"] = ends
    (folder / "generation_config.json").write_text(json.dumps(settings))
    reader = load_transformers_reader(folder)
    assert reader.writer.end_ids in ([], [END])
    trace = reader.trace(TEXT)
    assert max(reader.objective(trace).ids) < reader.tokens.known
