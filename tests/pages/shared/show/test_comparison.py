"""Two runs side by side: what is drawn is what the models say in them."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.model import load_bert
from headlight.model.edits import Edits
from headlight.model.insight.scoring import log_probabilities, trace_log_probabilities
from headlight.model.reader import Question
from headlight.pages.shared.runs.run import ModelRun, hiding
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.show import comparison
from headlight.pages.shared.show.comparison import (
    Answers,
    asked_alike,
    change_of_states,
    compare_answers,
    compare_choices,
    compare_scores,
    compare_writing,
    measured_on,
)
from headlight.pages.shared.show.saving import NO_MODEL
from headlight.pages.shared.state.catalog import LIBRARY
from headlight.viz.numbers import number_text
from tests.model.library.conftest import PAIR, SIZE, save_model
from tests.pages.sessions import end, session
from tests.viz.unpacking import split

SENTENCE, TARGET = "I love my cat.", "J'aime mon chat."
CAT = "the cat was playing."


@pytest.fixture(autouse=True)
def visitor():
    with session("comparison"):
        yield
    end("comparison")


@pytest.fixture
def run_in(transformers_folders, bert_folder):
    """A function that returns a run in a model: one of the app's own, or a tiny one."""
    folders = {**transformers_folders, "BERT": bert_folder}

    def made(name, sentence=SENTENCE, *, hidden=(), **options):
        if name in folders:
            shelf().ask(str(folders[name])).join()
            name = LIBRARY + str(folders[name])
        return hiding(ModelRun(sentence, model=name, **options), set(hidden))

    return made


@pytest.fixture
def shown(monkeypatch):
    """The header and the bytes of each picture that is drawn, by its key."""
    results = {}

    def show(picture, key, *_, **__):
        results[key] = split(picture.data)

    monkeypatch.setattr(comparison, "show", show)
    return results


@pytest.fixture
def said(monkeypatch):
    """What is drawn besides pictures: figures, captions and texts."""
    results = []
    for name in ("metric", "caption", "text", "markdown"):
        monkeypatch.setattr(comparison.st, name, lambda *parts, **_: results.append(parts))
    return results


def switched_off(run, kind="decoder", heads=(0, 1)):
    """The run with heads of the first layer removed."""
    return replace(run, edits=Edits(gates={(kind, 0, head): 0.0 for head in heads}))


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


def test_the_score_is_that_of_the_target_with_the_changes_and_as_trained(run_in, said):
    before = run_in("en-fr-learned", target=TARGET)
    after = switched_off(before, "cross")
    compare_scores(before, after)
    trained, now = (trace_log_probabilities(run.trace()).sum().item() for run in (before, after))
    assert abs(trained - now) > 0.01
    label, value, change = said.pop()
    assert label == "The log-probability of the whole target"
    assert value == f"{number_text(now)} nats"
    assert (
        change
        == f"{number_text(now - trained, signed=True)} against {number_text(trained)} as trained"
    )
    compare_scores(before, before)
    assert said.pop() == (label, f"{number_text(trained)} nats", None)


def test_only_a_score_that_moved_has_an_arrow_and_a_colour(run_in, monkeypatch):
    drawn = []
    monkeypatch.setattr(comparison.st, "metric", lambda *_, **options: drawn.append(options))
    before = run_in("en-fr-learned", target=TARGET)
    same = replace(before, edits=Edits(masks={("window", "decoder"): (40,)}))
    for after in (same, switched_off(before, "cross", range(8))):
        compare_scores(before, after)
    looks = [(each["delta_arrow"], each["delta_color"]) for each in drawn]
    assert looks == [("off", "off"), ("down", "inverse")]


def test_without_a_measure_it_is_the_change_of_the_last_states(run_in, said, bert_folder):
    before = run_in("BERT", CAT)
    after = switched_off(before, "encoder")
    reader = load_bert(bert_folder)
    edits = after.edits.at_sites(reader.shape, 20)
    usual, states = (reader.trace(CAT, edits=each).outputs["encoder"][0] for each in ({}, edits))
    moved = [(b - a).norm() / a.norm() for a, b in zip(usual, states, strict=True)]
    assert change_of_states(before, after) == pytest.approx(torch.stack(moved).mean().item())
    assert change_of_states(before, before) == 0
    compare_scores(before, after)
    assert said == [
        (
            "Mean change of the last hidden states",
            f"{number_text(100 * change_of_states(before, after), 1, signed=True)} %",
        )
    ]
    compare_scores(before, before)
    assert said[1:] == [("Hide a word, or change something, to see what it does.",)]
    headless = run_in("headless")
    compare_scores(headless, headless)
    assert len(said) == 2, "there is no word to hide"


@pytest.mark.parametrize(("name", "kind"), [("en-fr-learned", "cross"), ("GPT-2", "decoder")])
def test_both_probabilities_of_each_token_are_drawn(name, kind, run_in, shown, said):
    before = run_in(name)
    after = switched_off(before, kind)
    compare_answers(before, after, ("A", "B"), of=NO_MODEL)
    match, tokens = bars(shown["probabilities"])
    assert tokens == measured_on(before)
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
        best[label] = likely.topk(comparison.TOP).indices.tolist()
        texts = [run.reader.label(run.trace(), None, index) for index in best[label]]
        assert set(texts) <= set(tokens)
        shown_first = [match[label][tokens.index(text)] for text in texts]
        np.testing.assert_allclose(shown_first, likely[best[label]], atol=1e-5)
    order = [before.reader.label(before.trace(), None, index) for index in best["B"]]
    assert tokens[: comparison.TOP] == order, "those with the changes are first"
    assert len(tokens) == len(set(best["A"]) | set(best["B"]))


def test_answers_of_different_texts_stand_apart(run_in, shown, said):
    first, second = run_in("spans"), run_in("spans", "We leave today.")
    assert Answers(first, Question("", 0)).is_comparable_to(Answers(first, Question("", 1)))
    assert not Answers(first, Question("", 0)).is_comparable_to(Answers(second, Question("", 0)))
    compare_choices(first, second, ("A", "B"), of=NO_MODEL)
    assert set(shown) == {f"answer-{row}-{label}" for row in (0, 1) for label in "AB"}
    texts = [run.reader.answer(run.trace()).text for run in (first, second)]
    told = [words for (words,) in said if words.startswith("The answer")]
    assert told == [f"The answer A: “{texts[0]}”", f"The answer B: “{texts[1]}”"]


def test_the_hidden_word_itself_has_a_rank(run_in, bert_folder, shown, said):
    run = run_in("BERT", CAT, hidden=[2])
    answers = Answers(run, *run.reader.questions(run.trace()))
    reader = load_bert(bert_folder)
    likely = reader.trace(CAT, masked=[2]).logits[0, 0].softmax(-1)
    cat = reader.read(CAT)[2].id
    rank = (likely > likely[cat]).sum() + 1
    words = f"“cat” itself: {likely[cat]:.3f}, number {rank} of {len(likely)}"
    assert answers.of_hidden_word() == words
    compare_choices(run, run, of=NO_MODEL)
    assert (words,) in said
    typed = run_in("BERT", "the [MASK] was playing.")
    assert Answers(typed, *typed.reader.questions(typed.trace())).of_hidden_word() == ""


@pytest.mark.parametrize(
    ("name", "told"), [("headless", True), ("BERT", False), ("en-fr-learned", False)]
)
def test_a_model_without_an_output_says_so(name, told, run_in, shown, said):
    run = run_in(name, CAT)
    compare_answers(run, run, of=NO_MODEL)
    assert ((comparison.NO_OUTPUT,) in said) == told
    assert bool(shown) == (name == "en-fr-learned")


def test_a_head_that_is_not_read_is_not_denied(tmp_path, pairs, shown, said):
    texts, made = [text for pair in pairs for text in pair], SIZE | {"num_labels": 3}
    save_model(tmp_path, texts, "BertForTokenClassification", "BertConfig", made, PAIR)
    shelf().ask(str(tmp_path)).join()
    run = ModelRun(CAT, model=LIBRARY + str(tmp_path))
    compare_answers(run, run, of=NO_MODEL)
    ((words,),) = said
    assert words.endswith(
        "it was saved without a head, or with one of a kind that is not read here."
    )


@pytest.mark.parametrize("name", ["T5", "GPT-2", "en-fr-learned"])
def test_both_texts_are_drawn_and_what_differs_is_marked(name, run_in, shown):
    before = run_in(name)
    shape = before.reader.shape
    heads = [(*site, head) for site in shape.sites for head in range(shape.heads(site.kind))]
    after = replace(before, edits=Edits(gates=dict.fromkeys(heads, 0.0)))
    compare_writing(before, after, of=NO_MODEL)
    texts = []
    for key, run in (("trained", before), ("changed", after)):
        header, _ = shown[key]
        expected = run.reader.write(
            SENTENCE, edits=run.edits.at_sites(run.reader.shape, run.reader.shape.max_positions)
        )
        assert header["text"] == expected.writing.text
        texts.append([token.text for token in expected.writing.target_tokens])
    assert texts[0] != texts[1]
    assert any(chip["changed"] for chip in shown["changed"][0]["chips"])
    compare_writing(before, before, of=NO_MODEL)
    assert not any(chip["changed"] for chip in shown["trained"][0]["chips"])


def test_a_text_that_stays_the_same_is_drawn_once_with_both_log_probabilities(
    run_in, shown, monkeypatch
):
    before = run_in("en-fr-learned")
    after = replace(before, edits=Edits(gates={("encoder", 0, 0): 0.5}))
    compare_writing(before, after, of=NO_MODEL)
    assert shown.keys() == {"changed"}
    header, _ = shown["changed"]
    edits = after.edits.at_sites(after.reader.shape, 70)
    texts = [after.reader.write(SENTENCE, edits=each).writing for each in ({}, edits)]
    assert header["text"] == texts[0].text == texts[1].text
    assert header["chips"][0]["probability"] == pytest.approx(
        np.exp(texts[1].log_probabilities[0]), rel=1e-4
    )
    assert "nats" not in header["label"], "a page says them in a sentence"
    monkeypatch.setattr(comparison, "is_wanted", lambda *keys: True)
    compare_writing(before, after, of=NO_MODEL)
    header, _ = shown["changed"]
    scores = (trace_log_probabilities(run.trace()).sum().item() for run in (before, after))
    numbers = [number_text(score) for score in scores]
    assert numbers[0] != numbers[1]
    assert f"of the whole target: {' → '.join(numbers)} nats (" in header["label"]


def test_a_prompt_that_leaves_no_room_says_so(run_in, shown, said):
    run = run_in("GPT-2", "cat " * 100)
    compare_writing(run, run, of=NO_MODEL)
    ((words,),) = said
    assert "no room to write" in words
    assert not shown
