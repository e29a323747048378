"""The answers of two runs side by side: what is drawn is what the models say in them."""

import numpy as np
import pytest

from headlight.model.insight.scoring import log_probabilities
from headlight.model.library.loading import load_bert
from headlight.model.questions import Question
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.show import answers
from headlight.pages.shared.show.answers import (
    NO_OUTPUT,
    asked_alike,
    compare_answers,
    compare_choices,
    measured_on,
    say_predictions,
)
from headlight.pages.shared.show.comparison import scores_in_words
from headlight.pages.shared.show.likeliest import TOP, AnswersOfRun
from headlight.pages.shared.show.saving import NO_MODEL
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state.models import LIBRARY
from headlight.viz.numbers import number_text
from tests.model.library.conftest import PAIR, SIZE, save_model
from tests.pages.shared.show.conftest import CAT, SENTENCE, TARGET, switched_off

pytestmark = pytest.mark.usefixtures("visitor")


def bars(picture):
    """The numbers of each run by its label, and the tokens they are of."""
    header, body = picture
    values = np.frombuffer(body, "<f4").reshape(len(header["runs"]), -1)
    return dict(zip(header["runs"], values, strict=True)), header["tokens"]


def test_the_tokens_of_the_target_are_what_runs_of_a_translator_are_measured_on(run_in):
    run = run_in("en-fr-learned", target=TARGET)
    tokens = [token.text for token in run.trace().target_tokens[1:]]
    assert measured_on(run) == [*tokens, "<end>"]
    assert measured_on(run_in("BERT", CAT)) == []
    assert measured_on(run_in("BERT", CAT, hidden=[2, 3])) == ["cat", "was"]


def test_questions_are_alike_if_they_ask_for_the_same_kind_of_thing(run_in):
    one, two = run_in("BERT", CAT, hidden=[2]), run_in("BERT", CAT, hidden=[3, 1])
    (pair,) = asked_alike(one, two)
    assert pair == (Question("In place of token 3", 0), Question("In place of token 2", 0))
    assert len(asked_alike(two, two)) == 2
    assert asked_alike(one, run_in("GPT-2")) == []
    assert asked_alike(run_in("classes"), run_in("spans")) == []
    assert asked_alike(run_in("en-fr-learned"), run_in("en-fr-learned")) == []


def likeliest(run):
    """The likeliest answer to each question of a run."""
    rows = run.trace().logits[0].argmax(dim=-1).tolist()
    asked = run.reader.questions(run.trace())
    return [run.reader.label(run.trace(), each, rows[each.row]) for each in asked]


@pytest.fixture
def outcomes(monkeypatch):
    """The sentences that say what changes did, with their numbers."""
    results = []
    monkeypatch.setattr(answers, "say", lambda said, _, numbers: results.append((said, numbers)))
    return results


def became(first, second):
    return f"stays “{first}”." if first == second else f"changes from “{first}” to “{second}”."


@pytest.mark.parametrize(
    ("name", "hidden", "what"),
    [("BERT", [2], "likeliest in place of token 3"), ("classes", [], "likeliest class")],
)
def test_what_becomes_of_a_prediction_is_said_with_its_numbers(
    name, hidden, what, run_in, outcomes
):
    before, said = run_in(name, CAT, hidden=hidden), []
    for heads in map(range, range(1, 5)):
        after = switched_off(before, "encoder", heads)
        say_predictions(before, after)
        said.append((f"The {what} {became(*likeliest(before), *likeliest(after))}", after))
    assert outcomes == [(words, scores_in_words(before, after)) for words, after in said]


def test_a_span_is_one_answer_and_of_many_words_those_that_change_are_named(run_in, outcomes):
    before = run_in("spans", "who was playing?", second="the cat was playing.")
    after = switched_off(before, "encoder")
    say_predictions(before, after)
    spans = (run.reader.answer(run.trace()).text for run in (before, after))
    assert outcomes.pop()[0] == f"The answer {became(*spans)}"
    before = run_in("BERT", CAT, hidden=[1, 2, 3])
    for heads in map(range, range(1, 5)):
        after = switched_off(before, "encoder", heads)
        say_predictions(before, after)
        both = zip((2, 3, 4), likeliest(before), likeliest(after), strict=True)
        named = [
            f"the likeliest in place of token {place} {became(*pair)}"
            for place, *pair in both
            if len({*pair}) == 2
        ]
        words = ", ".join(named).replace(".,", ",") or "the likeliest words stay the same."
        assert outcomes.pop()[0] == capital(words)


def test_nothing_is_said_of_a_model_that_writes_or_has_no_measure(run_in, outcomes):
    for before in (run_in("GPT-2"), run_in("BERT", CAT), run_in("headless")):
        after = switched_off(before, before.reader.shape.sites[0].kind)
        say_predictions(before, after)
    before = run_in("BERT", CAT, hidden=[2])
    say_predictions(before, before)
    assert outcomes == []


def test_of_a_score_it_is_said_whether_it_rises_and_of_labels_and_tags_which_change(
    run_in, outcomes
):
    for heads in map(range, range(1, 5)):
        before = run_in("score")
        after = switched_off(before, "encoder", heads)
        say_predictions(before, after)
        first, second = (run.trace().logits.item() for run in (before, after))
        said, numbers = outcomes.pop()
        assert said == f"The score {'rises' if second > first else 'falls'}."
        assert numbers.startswith(f"Score: {number_text(first)} → {number_text(second)} (")
        for name, what in (("labels", "label “{}”"), ("tags", "likeliest tag of {}")):
            before = run_in(name)
            after = switched_off(before, "encoder", heads)
            say_predictions(before, after)
            read = enumerate(before.trace().source_tokens, start=1)
            tokens = [f"“{piece.text}”, token {at}" for at, piece in read if not piece.is_special]
            places = ["rude", "short", "kind"] if name == "labels" else tokens
            ends = [likeliest(run) for run in (before, after)]
            named = [
                f"the {what.format(place)} {became(*pair)}"
                for place, *pair in zip(places, *ends, strict=False)
                if len({*pair}) == 2
            ]
            stay = (
                "the labels stay the same."
                if name == "labels"
                else "the likeliest tags stay the same."
            )
            assert outcomes.pop()[0] == capital(", ".join(named).replace(".,", ",") or stay)


@pytest.mark.parametrize(
    ("name", "kind", "first"), [("en-fr-learned", "cross", 1), ("GPT-2", "decoder", 2)]
)
def test_both_probabilities_of_each_token_are_drawn(name, kind, first, run_in, shown, said):
    before = run_in(name)
    after = switched_off(before, kind)
    compare_answers(before, after, ("A", "B"), of=NO_MODEL)
    match, tokens = bars(shown["probabilities"])
    assert tokens == measured_on(before)
    assert shown["probabilities"][0]["first"] == first, "the number of the first that is predicted"
    for label, run in (("A", before), ("B", after)):
        trace = run.reader.trace(SENTENCE, before.target_text() or None, edits=run.changes())
        expected = log_probabilities(trace.logits, before.objective())[0].exp()
        np.testing.assert_allclose(match[label], expected, atol=1e-5)
    assert np.abs(match["A"] - match["B"]).max() > 1e-4


def test_the_likeliest_tokens_of_both_runs_stand_beside_each_other(run_in, shown, said):
    before = run_in("GPT-2")
    after = switched_off(before, heads=range(4))
    compare_choices(before, after, ("A", "B"), of=NO_MODEL)
    assert list(shown) == ["answer-0"]
    assert ("**The next token**",) in said
    match, tokens = bars(shown["answer-0"])
    best = {}
    for label, run in (("A", before), ("B", after)):
        likely = run.reader.trace(SENTENCE, edits=run.changes()).logits[0, -1].softmax(-1)
        best[label] = likely.topk(TOP).indices.tolist()
        texts = [run.reader.label(run.trace(), Question("", 0), index) for index in best[label]]
        assert set(texts) <= set(tokens)
        shown_first = [match[label][tokens.index(text)] for text in texts]
        np.testing.assert_allclose(shown_first, likely[best[label]], atol=1e-5)
    order = [before.reader.label(before.trace(), Question("", 0), index) for index in best["B"]]
    assert tokens[:TOP] == order, "those with the changes are first"
    assert len(tokens) == len(set(best["A"]) | set(best["B"]))


def test_answers_of_different_texts_stand_apart(run_in, shown, said):
    first, second = run_in("spans"), run_in("spans", "We leave today.")
    assert AnswersOfRun(first, Question("", 0)).is_comparable_to(
        AnswersOfRun(first, Question("", 1))
    )
    assert not AnswersOfRun(first, Question("", 0)).is_comparable_to(
        AnswersOfRun(second, Question("", 0))
    )
    compare_choices(first, second, ("A", "B"), of=NO_MODEL)
    assert set(shown) == {f"answer-{row}-{label}" for row in (0, 1) for label in "AB"}
    texts = [run.reader.answer(run.trace()).text for run in (first, second)]
    told = [words for (words,) in said if words.startswith("The answer")]
    assert told == [f"The answer A: “{texts[0]}”", f"The answer B: “{texts[1]}”"]


def test_the_hidden_word_itself_has_a_rank(run_in, bert_folder, shown, said):
    run = run_in("BERT", CAT, hidden=[2])
    answers = AnswersOfRun(run, *run.reader.questions(run.trace()))
    reader = load_bert(bert_folder)
    likely = reader.trace(CAT, masked=[2]).logits[0, 0].softmax(-1)
    cat = reader.read(CAT)[2].id
    rank = (likely > likely[cat]).sum() + 1
    words = f"The hidden word “cat”: {likely[cat]:.3f}, rank {rank} of {len(likely)}"
    assert answers.of_hidden_word() == words
    compare_choices(run, run, of=NO_MODEL)
    assert (words,) in said
    typed = run_in("BERT", "the [MASK] was playing.")
    assert AnswersOfRun(typed, *typed.reader.questions(typed.trace())).of_hidden_word() == ""


@pytest.mark.parametrize(
    ("name", "told"), [("headless", True), ("BERT", False), ("en-fr-learned", False)]
)
def test_a_model_without_an_output_says_so(name, told, run_in, shown, said):
    run = run_in(name, CAT)
    compare_answers(run, run, of=NO_MODEL)
    assert ((NO_OUTPUT,) in said) == told
    assert bool(shown) == (name == "en-fr-learned")


def test_a_head_that_is_not_read_is_not_denied(tmp_path, pairs, shown, said):
    texts = [text for pair in pairs for text in pair]
    save_model(tmp_path, texts, "BertForMultipleChoice", "BertConfig", SIZE, PAIR)
    shelf().ask(str(tmp_path)).join()
    run = ModelRun(CAT, model=LIBRARY + str(tmp_path))
    compare_answers(run, run, of=NO_MODEL)
    ((words,),) = said
    assert words.endswith("without an output layer, or with one of an unsupported kind.")
