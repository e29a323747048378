import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.testing import assert_close

from headlight.model.checkpoint import save_checkpoint
from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.scoring import log_probabilities, trace_log_probabilities
from headlight.model.stream import attention_at
from headlight.model.tokens import END_ID, PAD_ID, START_ID, UNKNOWN_ID
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from headlight.model.translator import Translator, load

SITES = [Site(kind, layer) for kind in ("encoder", "decoder", "cross") for layer in (0, 1)]
NO_HEADS = torch.zeros(4)


def ids(tokens):
    return [token.id for token in tokens]


def chosen_ids(trace):
    """What the model would write after each token it read."""
    logits = trace.logits[0].clone()
    logits[:, NEVER_WRITTEN] = -torch.inf
    return logits.argmax(-1).tolist()


def test_the_learned_sentences_are_translated_word_for_word(translator, pairs):
    for source, target in pairs:
        translation = translator.translate(source)
        assert translation.text == target
        assert translation.source == source
        assert translation.finished


def test_the_encoder_reads_the_sentence_and_an_end_token(translator):
    text = "I  love\tmy cat."
    *written, end = translator.read(text)
    assert ids(written) == translator.tokenizer.encode_ids([text])[0]
    assert all(text[token.start : token.end] == token.text for token in written)
    assert (end.id, end.text, end.start, end.end) == (END_ID, "<end>", len(text), len(text))


@pytest.mark.parametrize("text", ["", " ", "\n\t \u00a0"])
@pytest.mark.parametrize("call", ["read", "translate", "trace"])
def test_a_sentence_with_nothing_to_read_is_refused(translator, text, call):
    with pytest.raises(ValueError, match=r"^There is nothing to translate: type a sentence\.$"):
        getattr(translator, call)(text)


def test_a_long_sentence_is_cut_to_what_the_model_can_read(translator):
    tokens = translator.read("cat " * 100)
    assert translator.max_tokens == 23
    assert len(tokens) == 24
    assert tokens[-1].id == END_ID
    assert tokens[-1].start == tokens[-2].end < 400
    assert ids(tokens[:-1]) == translator.tokenizer.encode_ids(["cat " * 100])[0][:23]
    assert translator.translate("cat " * 100).source_tokens == tokens
    trace = translator.trace("cat " * 100, "chat " * 100)
    assert len(trace.source_tokens) == len(trace.target_tokens) == 24


@pytest.mark.parametrize("call", ["translate", "write", "trace"])
def test_a_sentence_that_is_cut_is_warned_of_once_where_it_was_given(translator, call):
    with pytest.warns(UserWarning, match="at most 24 tokens") as warned:
        getattr(translator, call)("cat " * 100)
    assert [warning.filename for warning in warned] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        getattr(translator, call)("cat")


@pytest.mark.parametrize(
    ("source", "what"), [("cat", "this target is"), ("cat " * 100, "this text and target is")]
)
def test_a_target_that_is_cut_is_warned_of_once_and_has_no_end(translator, source, what):
    with pytest.warns(UserWarning, match=f"at most 24 tokens; the rest of {what} cut") as warned:
        trace = translator.trace(source, "chat " * 100)
    assert [warning.filename for warning in warned] == [__file__]
    assert translator.objective(trace).ids == tuple(ids(trace.target_tokens[1:]))


def test_padding_is_appended_up_to_the_asked_length(translator):
    plain = translator.read("I love my cat.")
    padded = translator.read("I love my cat.", pad_to=15)
    assert padded[: len(plain)] == plain
    assert len(padded) == 15
    assert {token.id for token in padded[len(plain) :]} == {PAD_ID}
    assert {(token.text, token.start, token.end) for token in padded[len(plain) :]} == {
        ("<pad>", 14, 14)
    }
    assert translator.read("I love my cat.", pad_to=2) == plain
    assert len(translator.read("I love my cat.", pad_to=24)) == 24


def test_more_padding_than_positions_names_both_numbers(translator):
    with pytest.raises(ValueError, match=r"^Cannot pad to 25 tokens: the model takes 24\.$"):
        translator.read("I love my cat.", pad_to=25)


def test_padding_changes_neither_translation_nor_score(translator, pairs):
    for source, target in pairs[:4]:
        padded = translator.translate(source, pad_to=24)
        assert padded.text == target
        assert padded.score == pytest.approx(translator.translate(source).score, abs=1e-4)
        weights = translator.trace(source, padded, pad_to=24).attention[Site("cross", 1)].weights
        real = sum(token.id != PAD_ID for token in padded.source_tokens)
        assert (weights[..., real:] == 0).all()


def test_spans_of_a_translation_count_characters_of_its_texts(translator, pairs):
    translation = translator.translate(pairs[2][0])
    for text, tokens in (
        (translation.source, translation.source_tokens),
        (translation.text, translation.target_tokens),
    ):
        shown = [text[token.start : token.end] for token in tokens[:-1]]
        assert shown == [token.text.replace("␣", " ") for token in tokens[:-1]]
        assert "".join(shown).replace(" ", "") == text.replace(" ", "")
    assert translation.target_tokens[-1].id == END_ID


def test_a_limit_cuts_the_translation_and_says_so(translator, pairs):
    whole = translator.translate(pairs[2][0])
    cut = translator.translate(pairs[2][0], max_new_tokens=4)
    assert ids(cut.target_tokens) == ids(whole.target_tokens)[:4]
    assert not cut.finished
    assert cut.score > whole.score - 1e-4


def test_a_limit_beyond_the_model_is_the_models(translator, make_model):
    size = translator.tokenizer.vocab_size
    untrained = make_model(source_vocab_size=size, target_vocab_size=size, max_positions=9)
    translation = Translator(untrained, translator.tokenizer).translate("cat", max_new_tokens=500)
    assert len(translation.target_tokens) <= 8
    assert Translator(untrained, translator.tokenizer).trace("cat", translation).logits is not None


def test_the_decoder_reads_the_start_token_and_then_the_target(translator):
    trace = translator.trace("I love my cat.", "Je ne sais pas.")
    assert trace.target_tokens[0].id == START_ID
    assert trace.target_tokens[0].text == "<start>"
    written = trace.target_tokens[1:]
    assert ids(written) == translator.tokenizer.encode_ids(["Je ne sais pas."])[0]
    assert translator.trace("I love my cat.", "").target_tokens == trace.target_tokens[:1]


def test_a_trace_without_target_reads_the_models_own_translation(translator, pairs):
    for source, _ in pairs[:4]:
        translation = translator.translate(source)
        own, given = translator.trace(source), translator.trace(source, translation)
        assert own.target_tokens == given.target_tokens
        assert own.target_tokens[1:] == translation.target_tokens[:-1]
        assert torch.equal(own.logits, given.logits)


@pytest.mark.parametrize("max_new_tokens", [3, 64])
def test_a_trace_predicts_the_translations_own_tokens(translator, pairs, max_new_tokens):
    for source in [source for source, _ in pairs] + ["My cat is tired.", "The bread"]:
        translation = translator.translate(source, max_new_tokens=max_new_tokens)
        trace = translator.trace(source, translation)
        written = ids(translation.target_tokens)
        assert chosen_ids(trace)[: len(written)] == written


@pytest.mark.parametrize("max_new_tokens", [3, 64])
def test_the_score_is_the_sum_of_log_probabilities_of_the_trace(translator, pairs, max_new_tokens):
    for source in [pairs[5][0], "My cat is tired."]:
        translation = translator.translate(source, max_new_tokens=max_new_tokens)
        logits = translator.trace(source, translation).logits[0]
        written = torch.tensor(ids(translation.target_tokens))
        picked = logits.log_softmax(-1)[torch.arange(len(written)), written]
        assert translation.score == pytest.approx(picked.sum().item(), abs=1e-4)


@pytest.mark.parametrize(
    "edits",
    [
        {Site("encoder", 0): AttentionEdit(gate=NO_HEADS)},
        {Site("decoder", 1): AttentionEdit(gate=NO_HEADS)},
        {site: AttentionEdit(gate=torch.tensor([1.0, 0.0, 0.5, 1.0])) for site in SITES},
        {site: AttentionEdit(scale=0.0) for site in SITES},
        {Site("encoder", 1): AttentionEdit(block=torch.ones(8, 8, dtype=torch.bool).triu(1))},
    ],
    ids=["encoder heads off", "decoder heads off", "heads faded", "no scale", "cells blocked"],
)
def test_edits_change_translation_and_trace_alike(translator, edits):
    source = "I love my cat."
    plain = translator.translate(source)
    assert len(plain.source_tokens) == 8
    edited = translator.translate(source, edits=edits)
    assert abs(edited.score - plain.score) > 1e-3
    trace = translator.trace(source, edits=edits)
    written = torch.tensor(ids(edited.target_tokens))
    assert chosen_ids(trace)[: len(written)] == written.tolist()
    picked = trace.logits[0].log_softmax(-1)[torch.arange(len(written)), written]
    assert edited.score == pytest.approx(picked.sum().item(), abs=1e-3)
    unedited = translator.trace(source, edited)
    assert not torch.allclose(unedited.logits, trace.logits, atol=1e-3)


def test_removing_all_attention_to_the_source_forgets_which_sentence_it_was(translator, pairs):
    edits = {Site("cross", layer): AttentionEdit(gate=NO_HEADS) for layer in (0, 1)}
    texts = {translator.translate(source, edits=edits).text for source, _ in pairs}
    assert len(texts) == 1


def test_a_blocked_cell_is_blocked_for_its_own_word_of_the_translation(translator):
    source = "I love my cat."
    columns, rows = len(translator.read(source)), translator.max_tokens + 1
    block = torch.zeros(rows, columns, dtype=torch.bool)
    block[2, :-1] = True
    edits = {Site("cross", 0): AttentionEdit(block=block)}
    edited = translator.translate(source, edits=edits)
    read = 1 + sum(token.id != END_ID for token in edited.target_tokens)
    shown = {Site("cross", 0): AttentionEdit(block=block[:read])}
    trace = translator.trace(source, edited, edits=shown)
    assert (trace.attention[Site("cross", 0)].weights[0, :, 2, :-1] == 0).all()
    written = ids(edited.target_tokens)
    assert chosen_ids(trace)[: len(written)] == written


@pytest.mark.matrix
def test_threads_with_different_edits_get_what_they_would_get_alone(translator, pairs):
    source = pairs[2][0]
    edits = [
        {},
        {site: AttentionEdit(gate=torch.tensor([1.0, 0.0, 1.0, 1.0])) for site in SITES},
    ]

    def work(number, barrier=None):
        results = []
        for _ in range(12):
            if barrier is not None:
                barrier.wait()
            trace = translator.trace(source, edits=edits[number])
            results.append((translator.translate(source, edits=edits[number]), trace))
        return results

    alone = [work(0)[0], work(1)[0]]
    assert not torch.equal(alone[0][1].logits, alone[1][1].logits)
    barrier = threading.Barrier(2)
    with ThreadPoolExecutor(2) as pool:
        together = [pool.submit(work, number, barrier) for number in (0, 1)]
        for (translation, trace), future in zip(alone, together, strict=True):
            for other_translation, other_trace in future.result(timeout=60):
                assert ids(other_translation.target_tokens) == ids(translation.target_tokens)
                assert other_trace.target_tokens == trace.target_tokens
                assert_close(other_trace.logits, trace.logits, atol=1e-5, rtol=1e-5)
                for site in SITES:
                    weights = trace.attention[site].weights
                    assert_close(other_trace.attention[site].weights, weights, atol=1e-5, rtol=0)


def test_a_trace_keeps_nothing_for_the_backward_pass(translator):
    trace = translator.trace("I love my cat.")
    assert not trace.logits.requires_grad
    assert not trace.attention[Site("cross", 0)].weights.requires_grad


def test_a_translator_puts_its_model_in_inference_mode(translator, make_model):
    assert not Translator(make_model().train(), translator.tokenizer).model.training


def test_typed_names_of_special_tokens_are_words_like_others(translator):
    tokens = translator.read("I love <pad> my <end> cat <start>.")
    special = [token for token in tokens[:-1] if token.is_special]
    assert special == []


def test_unknown_signs_are_read_and_marked(translator):
    tokens = translator.read("I love my \u732b.")
    assert [token.text for token in tokens if token.id == UNKNOWN_ID] == ["\u732b"]
    assert translator.trace("I love my \u732b.").logits.isfinite().all()


@pytest.fixture
def saved(translator, tmp_path):
    save_checkpoint(tmp_path / "shipped" / "tiny", translator.model, translator.tokenizer)
    return tmp_path / "shipped"


def test_a_checkpoint_folder_loads_as_a_translator(saved, pairs):
    for name in (saved / "tiny", str(saved / "tiny")):
        assert load(name).translate(pairs[0][0]).text == pairs[0][1]


def test_a_shipped_model_loads_by_its_name(saved, pairs, monkeypatch):
    monkeypatch.setattr("headlight.model.translator.PRETRAINED", saved)
    assert load("tiny").translate(pairs[0][0]).text == pairs[0][1]


def test_a_name_that_is_no_model_lists_the_shipped_ones(saved, monkeypatch):
    monkeypatch.setattr("headlight.model.translator.PRETRAINED", saved)
    with pytest.raises(
        FileNotFoundError, match=r"^big is neither a shipped model \(tiny\) nor a folder\.$"
    ):
        load("big")


def test_a_folder_without_a_checkpoint_says_what_it_lacks(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no weights\.safetensors"):
        load(tmp_path)


def test_another_run_over_a_trace_gives_its_logits(translator, pairs):
    trace, again = translator.trace(*pairs[0]), Trace()
    with torch.inference_mode():
        assert_close(translator.rerun(trace, Run(trace=again)), trace.logits, atol=1e-5, rtol=0)
    assert set(again.attention) == set(translator.shape.sites) == set(SITES)
    gates = torch.ones(2, 4)
    gates[1, 2] = 0
    with torch.inference_mode():
        plain, without = translator.rerun(trace, Run({SITES[0]: AttentionEdit(gate=gates)}))
    assert_close(plain, trace.logits[0], atol=1e-5, rtol=0)
    edits = {SITES[0]: AttentionEdit(gate=gates[1])}
    assert_close(without, translator.trace(*pairs[0], edits=edits).logits[0], atol=1e-5, rtol=0)


def test_other_sites_keep_their_weights_in_bytes(translator, pairs):
    site = Site("cross", 1)
    whole, some = translator.trace(*pairs[0]), translator.trace(*pairs[0], sites=[site])
    assert set(some.attention) == {site}
    assert set(some.overview) == set(SITES) - {site}
    for kind in translator.shape.kinds:
        assert_close(some.weights(kind), whole.weights(kind), atol=0.51 / 255, rtol=0)
    assert torch.equal(some.attention[site].weights, whole.attention[site].weights)
    assert torch.equal(some.logits, whole.logits)


def test_effects_are_measured_on_the_target(translator, pairs):
    trace = translator.trace(*pairs[0])
    following = [*(token.text for token in trace.target_tokens[1:]), "<end>"]
    whole = translator.objective(trace)
    assert whole.texts == tuple(following)
    assert whole.ids[-1] == END_ID
    assert translator.objective(trace, Site("encoder", 0), 1) == whole
    one = translator.objective(trace, Site("cross", 0), 1)
    assert (one.rows, one.texts) == ((1,), (following[1],))
    assert translator.questions(trace) == ()
    labels = [translator.label(trace, None, index) for index in whole.ids]
    assert labels == following


@pytest.mark.parametrize("longest", [3, None])
def test_effects_are_measured_on_an_end_only_if_it_was_written(translator, pairs, longest):
    writing = translator.write(pairs[0][0], longest=longest).writing
    assert writing.finished == (longest is None)
    trace = translator.trace(pairs[0][0], writing, pad_to=20)
    objective = translator.objective(trace)
    assert objective.ids == tuple(ids(writing.target_tokens))
    for sums in (log_probabilities(trace.logits, objective), trace_log_probabilities(trace)):
        assert sums.sum().item() == pytest.approx(writing.score, abs=1e-4)


def test_each_head_has_its_part_of_the_output_projection(translator):
    for site in SITES:
        block = attention_at(translator.model, site)
        heads = torch.randn(1, 4, 5, 8)  # (B, H, Q, D)
        parts = torch.einsum("bhqd,hdm->bqm", heads, translator.heads_to_stream(site))
        assert_close(parts + block.output.bias, block.output(block.join(heads)))
    assert len({id(attention_at(translator.model, site)) for site in SITES}) == len(SITES)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [({"second": "More."}, "cannot read a second one"), ({"masked": [1]}, "no token that hides")],
)
def test_what_a_translator_cannot_read_is_said(options, sentence, translator):
    with pytest.raises(ValueError, match=sentence):
        translator.trace("I love my cat.", **options)
    assert translator.trace("I love my cat.", second=" ").target_tokens


@pytest.mark.parametrize("writer", ["en-fr", "en-fr-learned"])
def test_what_another_model_wrote_is_refused(translator, pairs, writer):
    writing = load(writer).write(pairs[0][0]).writing
    with pytest.raises(ValueError, match=r"Another model.*pass the text, write\(\.\.\.\)\.writing"):
        translator.trace(pairs[0][0], writing)
    other = load(writer).trace(pairs[1][0], writing)  # by itself, after another source
    assert ids(other.target_tokens[1:]) == ids(writing.target_tokens[:-1])


@pytest.mark.parametrize("options", [{"beam_size": 4}, {"seed": 3}, {"beams": 4}])
def test_options_that_a_strategy_does_not_have_are_refused(translator, options):
    (name,) = options
    with pytest.raises(
        ValueError, match=f'The strategy "greedy" has no option {name}: choose a strategy'
    ):
        translator.translate("I love my cat.", **options)


def test_a_strategy_is_taken_by_its_name_or_as_it_is(translator, pairs):
    named = translator.translate(pairs[0][0], strategy="beam", beam_size=2, length_penalty=0)
    given = Strategy("beam", beam_size=2)
    assert translator.translate(pairs[0][0], strategy=given, length_penalty=0) == named
    with pytest.raises(ValueError, match="'best' is not a strategy"):
        translator.translate(pairs[0][0], strategy="best")
