"""A reader of models of the transformers library, against what the library itself returns."""

import pytest
import torch
import transformers
from torch.nn import functional as F
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.edits.positions import PositionEdit
from headlight.model.library.pieces import whole_words
from headlight.model.library.transformers_loading import LONGEST
from headlight.model.shape import ABILITIES, Shape
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from tests.model.library.conftest import END, FOLDERS, PAD

TEXT, SECOND, TARGET = "I love my cat.", "Where is the school?", "J'aime mon chat."
TWO_SIDED = ("T5", "BART", "Marian", "M2M100")
WRITERS = ("GPT-2", "Llama")
DECODERS = (*WRITERS, "classes by a decoder")
ENCODERS = tuple(name for name in FOLDERS if name not in TWO_SIDED + DECODERS)
MASKED = ("DistilBERT", "ALBERT", "RoBERTa")


@pytest.fixture(scope="module")
def theirs(transformers_folders):
    """The model as transformers loads it, by its own class."""

    def get(name):
        kind = getattr(transformers, FOLDERS[name][0])
        return kind.from_pretrained(transformers_folders[name], attn_implementation="eager").eval()

    return get


def ids_of(pieces):
    return torch.tensor([[piece.id for piece in pieces]])


def called(model, trace, **options):
    """What a model of transformers returns for the tokens of a trace."""
    source, target = ids_of(trace.source_tokens).long(), ids_of(trace.target_tokens).long()
    inputs = {"input_ids": source if trace.source_tokens else target}
    if trace.source_tokens and trace.target_tokens:
        inputs["decoder_input_ids"] = target
    if getattr(model.config, "type_vocab_size", 1) > 1:
        segments = [[piece.segment for piece in trace.source_tokens]]
        inputs["token_type_ids"] = torch.tensor(segments)
    with torch.inference_mode():
        return model(**inputs, output_attentions=True, **options)


def read(reader, name):
    """A trace of all that a model can read."""
    masked = [2, 4] if name in MASKED else []
    second = None if "read a pair" in reader.missing else SECOND
    return reader.trace(TEXT, second=second, masked=masked)


@pytest.mark.parametrize("name", FOLDERS)
def test_weights_states_and_logits_equal_transformers(name, load, theirs):
    reader, model = load(name), theirs(name)
    trace = read(reader, name)
    expected = called(model, trace, output_hidden_states=True)
    kinds = {
        "encoder": expected.get("encoder_attentions", expected.get("attentions")),
        "decoder": expected.get("decoder_attentions", expected.get("attentions")),
        "cross": expected.get("cross_attentions"),
    }
    for kind in reader.shape.kinds:
        assert_close(trace.weights(kind), torch.cat(kinds[kind]), atol=1e-6, rtol=0)
    if name in TWO_SIDED:
        assert_close(trace.outputs["encoder"], expected.encoder_last_hidden_state)
        assert_close(trace.outputs["decoder"], expected.decoder_hidden_states[-1])
        assert_close(trace.logits, expected.logits)
    else:
        (states,) = trace.outputs.values()
        assert_close(states, called(model.base_model, trace).last_hidden_state)
    if name in WRITERS:
        assert_close(trace.logits, expected.logits)
    if name in MASKED:
        assert_close(trace.logits, expected.logits[:, [2, 4]])
    if name.startswith("classes"):
        assert_close(trace.logits[:, 0], expected.logits)
    if name == "spans":
        assert_close(trace.logits[0], torch.cat([expected.start_logits, expected.end_logits]))
    assert (trace.logits is None) == (name == "headless")


@pytest.mark.parametrize("name", FOLDERS)
def test_a_reader_says_what_it_has_and_lacks(name, load):
    reader = load(name)
    sides = (len(reader.trace(TEXT).source_tokens) > 0, len(reader.trace(TEXT).target_tokens) > 0)
    assert sides == (name not in DECODERS, name in TWO_SIDED + DECODERS)
    assert isinstance(reader.shape, Shape)
    assert len(reader.trace(TEXT).attention) == len(reader.shape.sites)
    assert set(reader.missing) <= set(ABILITIES)
    assert all(words.endswith(".") for words in reader.missing.values())
    assert ("write" in reader.missing) == (name not in WRITERS + TWO_SIDED)
    assert ("read a pair" in reader.missing) == (name not in ENCODERS)
    assert ("mask words" in reader.missing) == (name not in MASKED)
    assert not {"open cells", "take apart", "add up heads"} & set(reader.missing)
    assert ("pad" in reader.missing) == (reader.tokens.pad_id is None)
    assert max(reader.parity()) < 1e-5


@pytest.mark.parametrize("name", TWO_SIDED)
def test_without_a_target_the_decoder_reads_what_it_writes(name, load, theirs):
    reader, model = load(name), theirs(name)
    trace = reader.trace(TEXT)
    start, *written = (piece.id for piece in trace.target_tokens)
    assert start == model.config.decoder_start_token_id
    assert written
    assert trace.logits[0, :-1].argmax(dim=-1).tolist() == written
    generated = model.generate(
        ids_of(trace.source_tokens),
        max_new_tokens=min(64, reader.shape.max_positions - 1),
        do_sample=False,
    )[0].tolist()
    assert generated[: len(written) + 1] == [start, *written]
    assert set(generated[len(written) + 1 :]) <= {END, PAD}


@pytest.mark.parametrize("name", ["BART", "Marian"])
def test_edits_are_in_force_while_it_writes(name, load):
    reader = load(name)
    edits = {
        site: AttentionEdit(gate=torch.zeros(reader.shape.heads(site.kind)))
        for site in reader.shape.sites
    }
    trace = reader.trace(TEXT, edits=edits)
    written = [piece.id for piece in trace.target_tokens][1:]
    assert trace.logits[0, :-1].argmax(dim=-1).tolist() == written
    assert written != [piece.id for piece in reader.trace(TEXT).target_tokens][1:]


@pytest.mark.parametrize("name", TWO_SIDED)
def test_a_given_target_is_read_after_the_start_token(name, load, theirs):
    start, *rest = load(name).trace(TEXT, TARGET).target_tokens
    assert start.is_special
    assert start.id == theirs(name).config.decoder_start_token_id
    assert not any(piece.is_special for piece in rest)
    assert "".join(piece.text for piece in rest) == TARGET.replace(" ", "")
    assert all(TARGET[piece.start : piece.end] == piece.text for piece in rest)
    assert len(load(name).trace(TEXT, "").target_tokens) == 1


@pytest.mark.parametrize("name", FOLDERS)
def test_pieces_are_the_text_in_order_and_words_are_what_spaces_part(name, load):
    reader = load(name)
    second = None if "read a pair" in reader.missing else SECOND
    trace = reader.trace(TEXT, second=second)
    pieces = trace.target_tokens if name in DECODERS else trace.source_tokens
    for segment, text in enumerate([TEXT, second][: 1 + (second is not None)]):
        written = [piece for piece in pieces if piece.segment == segment and not piece.is_special]
        drawn = [piece for piece in written if piece.end > piece.start]
        assert "".join(piece.text for piece in drawn) == text.replace(" ", "")
        assert all(text[piece.start : piece.end] == piece.text for piece in drawn)
        assert [piece.text.strip("▁Ġ") for piece in whole_words(written)] == text.split()


def test_a_letter_of_several_bytes(load):
    pieces = load("GPT-2").trace("a ☃ b").target_tokens
    assert len(pieces) > 4
    assert all(piece.text for piece in pieces)
    assert [piece.text for piece in pieces if piece.end > piece.start] == ["a", "<0xE2>", "b"]
    assert [piece.text for piece in whole_words(pieces)] == ["a", "☃", "b"]
    assert len({piece.word for piece in pieces}) == 3


def test_unknown_characters_are_marked(load):
    assert [p.role for p in load("T5").trace("my ☃").source_tokens][-2:] == ["unknown", "special"]


@pytest.mark.parametrize("name", FOLDERS)
def test_a_long_text_is_cut_and_keeps_its_end(name, load):
    reader = load(name)
    text = "I love my cat. " * 200
    positions = {"T5": LONGEST, "RoBERTa": 39}.get(name, 40)
    with pytest.warns(UserWarning, match=f"at most {positions} tokens"):
        trace = reader.trace(text)
    pieces = trace.target_tokens if name in DECODERS else trace.source_tokens
    assert reader.is_cut(text)
    assert not reader.is_cut(TEXT)
    assert len(pieces) == reader.shape.max_positions == positions
    assert pieces[-1].is_special == (name not in DECODERS)
    if name in ENCODERS:
        with pytest.warns(UserWarning, match=f"at most {positions} tokens"):
            pair = reader.trace(text, second=SECOND).source_tokens
        assert reader.is_cut(text, SECOND)
        assert len(pair) == positions
        assert sum(piece.is_special for piece in pair) == 3
        assert "".join(p.text for p in pair if p.segment == 1 and p.end > p.start).endswith("?")


@pytest.mark.parametrize("name", [*WRITERS, *TWO_SIDED])
def test_a_target_that_is_cut_is_warned_of_once(name, load):
    reader = load(name)
    with pytest.warns(UserWarning, match="the rest of this target is cut off") as warned:
        pieces = reader.trace(TEXT, "mon chat " * 400).target_tokens
    assert [warning.filename for warning in warned] == [__file__]
    assert len(pieces) == reader.shape.max_positions
    assert not pieces[-1].is_special


@pytest.mark.parametrize("name", ["T5", "ALBERT", "spans", "classes"])
def test_padding_changes_no_weight_of_the_text(name, load):
    reader = load(name)
    target = TARGET if name in TWO_SIDED else None
    plain, padded = reader.trace(TEXT, target), reader.trace(TEXT, target, pad_to=30)
    assert len(padded.source_tokens) == 30
    for site, record in plain.attention.items():
        queries, keys = record.weights.shape[2:]
        weights = padded.attention[site].weights
        assert_close(weights[:, :, :queries, :keys], record.weights, atol=1e-6, rtol=1e-5)
        assert not weights[:, :, :queries, keys:].any()
    assert reader.objective(padded) == reader.objective(plain)


@pytest.mark.parametrize("name", WRITERS)
def test_a_decoder_alone_reads_the_target_after_its_prompt(load, name):
    reader = load(name)
    prompt = reader.trace(TEXT).target_tokens
    written = reader.write(TEXT, longest=6).writing
    read = reader.trace(TEXT, written).target_tokens
    made = [token.id for token in written.target_tokens]
    made = made[: len(made) - written.finished]
    assert [token.id for token in read] == [token.id for token in prompt] + made
    more = [piece.id for piece in reader.begin(" It is here.")]
    again = reader.trace(TEXT, " It is here.").target_tokens
    assert [token.id for token in again] == [token.id for token in prompt] + more


def test_what_cannot_be_read(load):
    for name in FOLDERS:
        with pytest.raises(ValueError, match="nothing to read"):
            load(name).trace(" ")
    with pytest.raises(ValueError, match="one text at a time"):
        load("GPT-2").trace(TEXT, second=SECOND)
    with pytest.raises(ValueError, match=r"no \[MASK\] token"):
        load("T5").trace(TEXT, masked=[1])
    with pytest.raises(ValueError, match="There is no token 100 to mask"):
        load("RoBERTa").trace(TEXT, masked=[99])
    with pytest.raises(ValueError, match="no decoder that could read a second text"):
        load("RoBERTa").trace(TEXT, TARGET)
    with pytest.raises(ValueError, match="Cannot pad to 41 tokens: the model takes 40"):
        load("ALBERT").trace(TEXT, pad_to=41)
    with pytest.raises(ValueError, match="no token for padding"):
        load("GPT-2").trace(TEXT, pad_to=30)
    with pytest.raises(ValueError, match="is not known well enough"):
        load("ALBERT").trace(TEXT, edits={"encoder": PositionEdit(shift=1)})
    with pytest.raises(ValueError, match="no output layer"):
        load("headless").rerun(load("headless").trace(TEXT), Run())


@pytest.mark.parametrize("name", MASKED)
def test_a_model_that_fills_in_words_has_no_logits_without_a_masked_one(name, load):
    assert load(name).trace(TEXT).logits is None


def log_probability(logits, objective):
    measured = logits if objective.is_score else F.log_softmax(logits, dim=-1)
    chosen = measured[:, list(objective.rows)]
    return chosen.gather(-1, torch.tensor(objective.ids).expand(len(chosen), -1)[..., None]).sum()


@pytest.mark.parametrize("name", [name for name in FOLDERS if name != "headless"])
def test_a_rerun_repeats_a_trace_and_takes_a_batch_of_edits(name, load):
    reader = load(name)
    trace = read(reader, name)
    assert_close(reader.rerun(trace, Run()), trace.logits, atol=1e-4, rtol=1e-4)
    again = Trace()
    assert_close(reader.rerun(trace, Run(trace=again)), trace.logits)
    assert set(again.attention) == set(trace.attention)
    site = reader.shape.sites[-1]
    gates = 1 - torch.eye(reader.shape.heads(site.kind))
    batch = reader.rerun(trace, Run({site: AttentionEdit(gate=gates)}))
    assert batch.shape == (len(gates), *trace.logits.shape[1:])
    for gate, logits in zip(gates, batch, strict=True):
        alone = reader.rerun(trace, Run({site: AttentionEdit(gate=gate)}))
        assert_close(logits[None], alone, atol=1e-5, rtol=1e-4)
        assert (alone - trace.logits).abs().max() > 1e-4


@pytest.mark.parametrize("name", [name for name in FOLDERS if name != "headless"])
def test_the_effect_of_a_gate_has_a_gradient(name, load):
    reader = load(name)
    trace = read(reader, name)
    objective = reader.objective(trace)
    gate = torch.ones(reader.shape.heads(reader.shape.sites[0].kind), requires_grad=True)
    logits = reader.rerun(trace, Run({reader.shape.sites[0]: AttentionEdit(gate=gate)}))
    log_probability(logits, objective).backward()
    assert gate.grad.abs().max() > 0
    assert all(parameter.grad is None for parameter in reader.model.parameters())


def test_an_effect_is_measured_on_what_a_decoder_is_to_write(load, theirs):
    for name in WRITERS:
        trace = load(name).trace(TEXT)
        ids = ids_of(trace.target_tokens)
        with torch.inference_mode():
            loss = theirs(name)(input_ids=ids, labels=ids).loss.item()
        objective = load(name).objective(trace)
        assert objective.ids == tuple(ids[0, 1:].tolist())
        expected = -loss * len(objective.ids)
        assert_close(log_probability(trace.logits, objective).item(), expected, rtol=1e-4, atol=0)
        assert load(name).objective(load(name).trace("I")) is None
    for name in TWO_SIDED:
        trace = load(name).trace(TEXT, TARGET)
        labels = ids_of([*trace.target_tokens[1:]])
        labels = torch.cat([labels, torch.tensor([[END]])], dim=1)
        with torch.inference_mode():
            loss = theirs(name)(input_ids=ids_of(trace.source_tokens), labels=labels).loss.item()
        objective = load(name).objective(trace)
        assert objective.ids == tuple(labels[0].tolist())
        expected = -loss * labels.size(1)
        assert_close(log_probability(trace.logits, objective).item(), expected, rtol=1e-4, atol=0)


@pytest.mark.parametrize("longest", [3, None])
@pytest.mark.parametrize("name", TWO_SIDED)
def test_an_effect_is_measured_on_an_end_only_if_it_was_written(name, longest, load):
    reader = load(name)
    writing = reader.write(TEXT, longest=longest).writing
    trace = reader.trace(TEXT, writing)
    objective = reader.objective(trace)
    assert objective.ids == tuple(token.id for token in writing.target_tokens)
    total = log_probability(trace.logits, objective).item()
    assert total == pytest.approx(writing.score, abs=1e-3)
    if longest is None:
        assert reader.objective(reader.trace(TEXT)) == objective


def test_what_another_model_wrote_is_refused(load, translator):
    for name in (*WRITERS, *TWO_SIDED):
        own, others = load(name).write(TEXT, longest=9).writing, translator.write(TEXT).writing
        assert load(name).trace(SECOND, own).target_tokens
        for reader, writing in ((load(name), others), (translator, own)):
            with pytest.raises(ValueError, match=r"^Another model wrote this"):
                reader.trace(TEXT, writing)


def test_questions_are_about_what_a_head_chooses(load):
    for name in (*WRITERS, *TWO_SIDED):
        trace = load(name).trace(TEXT, TARGET if name in TWO_SIDED else None)
        (question,) = load(name).questions(trace)
        assert question[:2] == ("The next token", len(trace.target_tokens) - 1)
        last = trace.target_tokens[-1]
        assert load(name).label(trace, question, last.id) == last.text
    reader = load("RoBERTa")
    trace = reader.trace(TEXT, masked=[2, 4])
    assert [tuple(q)[:2] for q in reader.questions(trace)] == [
        ("In place of token 3", 0), ("In place of token 5", 1),
    ]  # fmt: skip
    love = reader.trace(TEXT).source_tokens[2]
    assert reader.label(trace, reader.questions(trace)[0], love.id) == "love"
    read = reader.trace(TEXT).source_tokens
    assert reader.objective(trace).ids == (read[2].id, read[4].id)
    assert reader.questions(reader.trace(TEXT)) == []
    assert reader.objective(reader.trace(TEXT)) is None


def test_questions_about_classes_and_answers(load):
    reader = load("classes")
    trace = reader.trace(TEXT)
    (question,) = reader.questions(trace)
    assert [reader.label(trace, question, i) for i in range(3)] == ["sad", "so so", "glad"]
    likeliest = trace.logits[0, 0].argmax().item()
    assert reader.objective(trace).ids == (likeliest,)
    assert reader.objective(trace).texts == (reader.label(trace, question, likeliest),)
    reader = load("spans")
    trace = reader.trace(SECOND, second=TEXT)
    first, last = reader.questions(trace)
    assert (first.row, last.row) == (0, 1)
    start, end = reader.objective(trace).ids
    answering = [
        place
        for place, piece in enumerate(trace.source_tokens)
        if piece.segment == 1 and not piece.is_special
    ]
    spans = [
        (trace.logits[0, 0, i] + trace.logits[0, 1, j]).item()
        for i in answering
        for j in answering
        if i <= j
    ]
    chosen = trace.logits[0, 0, start] + trace.logits[0, 1, end]
    assert start <= end
    assert chosen.item() == pytest.approx(max(spans))
    assert reader.label(trace, first, start) == f"{start + 1}: {trace.source_tokens[start].text}"
    assert load("headless").questions(load("headless").trace(TEXT)) == []
    assert load("headless").objective(load("headless").trace(TEXT)) is None


def test_sites_choose_what_is_recorded_in_full(load):
    reader = load("BART")
    site = Site("cross", 1)
    trace = reader.trace(TEXT, TARGET, sites=[site])
    assert set(trace.attention) == {site}
    assert set(trace.overview) == set(reader.shape.sites) - {site}
    whole = reader.trace(TEXT, TARGET)
    for kind in reader.shape.kinds:
        assert_close(trace.weights(kind), whole.weights(kind), atol=0.51 / 255, rtol=0)
    assert_close(trace.logits, whole.logits)
