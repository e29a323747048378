"""Two runs side by side: the texts and the scores that are drawn are those of the models."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.model.decoding.steps import Writing
from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.library.loading import load_bert
from headlight.model.tokens import Token
from headlight.pages.shared.show import comparison
from headlight.pages.shared.show.comparison import (
    change_of_states,
    compare_scores,
    compare_writing,
    scores_in_words,
    show_writing,
    why_the_same,
    with_edits,
)
from headlight.pages.shared.show.saving import NO_MODEL
from headlight.viz.numbers import number_text
from tests.pages.shared.show.conftest import CAT, SENTENCE, TARGET, switched_off

CLOSED = CellEdit("decoder", 1, 1, False)

pytestmark = pytest.mark.usefixtures("visitor")


def test_the_score_is_that_of_the_target_with_the_changes_and_as_trained(run_in, said):
    before = run_in("en-fr-learned", target=TARGET)
    after = switched_off(before, "cross")
    compare_scores(before, after)
    trained, now = (trace_log_probabilities(run.trace()).sum().item() for run in (before, after))
    assert abs(trained - now) > 0.01
    label, value, change = said.pop()
    assert label == "The log-probability of the whole target"
    assert value == f"{number_text(now)} nats"
    difference = number_text(now - trained, signed=True)
    assert change == f"{difference}, from {number_text(trained)} as trained"
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


@pytest.mark.parametrize(("moved", "words"), [(2e-5, "(0.000)."), (2e-4, "(<0.001).")])
def test_a_score_that_only_rounding_moved_is_the_same(moved, words, run_in, monkeypatch):
    before = run_in("en-fr-learned")
    after = replace(before, edits=Edits(off={"padding"}))
    monkeypatch.setattr(comparison, "score_of", lambda run, _: -3 + moved * (run is after))
    assert scores_in_words(before, after).endswith(words)


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
    assert said[1:] == [("Hide a word, or change the model, to see the effect.",)]
    headless = run_in("headless")
    compare_scores(headless, headless)
    assert len(said) == 2, "there is no word to hide"


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
    assert not shown["trained"][0]["explained"]
    assert shown["changed"][0]["explained"]
    assert shown["changed"][0]["framed"], "what the frames of both texts mean"
    compare_writing(before, before, of=NO_MODEL)
    assert not any(chip["changed"] for chip in shown["trained"][0]["chips"])


def test_frames_are_explained_below_the_last_text_if_only_the_first_has_some(shown):
    tokens = [Token(5, "a", 0, 1), Token(6, "b", 2, 3)]
    whole = Writing("", "a b", [], tokens, -2.0, True, [-1.0, -1.0])
    part = replace(whole, text="a", target_tokens=tokens[:1], log_probabilities=[-1.0])
    shown_of = {}
    for made, other in ((whole, part), (part, whole)):
        show_writing(made, "text", "Text", of=NO_MODEL, other=other)
        shown_of[made.text] = shown["text"][0]
    assert [chip["changed"] for chip in shown_of["a b"]["chips"]] == [False, True]
    assert not any(chip["changed"] for chip in shown_of["a"]["chips"])
    assert shown_of["a"]["framed"]
    show_writing(part, "text", "Text", of=NO_MODEL, other=part)
    assert not shown["text"][0]["framed"]


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


def test_a_text_that_stays_the_same_says_why_only_if_it_is_known(run_in):
    before = run_in("en-fr-learned", target=TARGET)
    told = {
        "other heads make up for it": Edits(gates={("encoder", 0, 1): 0.5}),
        "other heads make up for them": Edits(gates={("encoder", 0, head): 0.9 for head in (0, 1)}),
        "no later token to see": Edits(off={"look-ahead"}),
        "there is no later token": Edits(off={"look-ahead"}, gates={("cross", 0, 0): 0.9}),
        "while it is written": Edits(cells=(CellEdit("decoder", 1, 2, True),)),
        ": for the opened cells, while it": Edits(cells=(CLOSED, CellEdit("decoder", 1, 2, True))),
        "too short": Edits(cells=(CellEdit("decoder", 90, 1, False),)),
    }
    for words, edits in told.items():
        assert words in why_the_same(before, replace(before, edits=edits))
        both = replace(edits, masks={("documents-anew", "encoder"): (2,)})
        assert why_the_same(before, replace(before, edits=both)) == ""


def test_a_text_that_stays_but_is_much_less_likely_says_how_much(run_in):
    before = run_in("en-fr-learned", "My sister bought a red bicycle yesterday.")
    gates = {("cross", layer, head): 0.6 for layer in range(2) for head in range(8)}
    after = replace(before, edits=Edits(gates=gates))
    scores = [log_probability(run) for run in (before, after)]
    times = np.exp(scores[0] - scores[1])
    assert times > np.e
    assert (
        why_the_same(before, after) == f", but the whole target is {times:,.0f} times less likely"
    )
    gates = {("encoder", layer, head): 0.0 for layer in range(2) for head in range(8)}
    off = replace(before, edits=Edits(gates=gates | dict.fromkeys(after.edits.gates, 0.0)))
    assert "millions of times less likely" in why_the_same(before, off)


def test_a_text_that_stays_and_is_likelier_says_so(run_in):
    before = run_in("en-fr-learned", target=TARGET)
    one_each = (Edits(gates={("encoder", 0, head): 0.5}) for head in range(8))
    afters = [replace(before, edits=edits) for edits in one_each]
    said = {after: why_the_same(before, after) for after in afters}
    likelier = [after for after in afters if log_probability(after) > log_probability(before)]
    assert 0 < len(likelier) < len(afters)
    for after, words in said.items():
        assert (words == ", and the whole target is even likelier") == (after in likelier)


def log_probability(run):
    return trace_log_probabilities(run.trace()).sum().item()


def test_a_label_names_the_edits_of_a_run_if_it_has_any(run_in):
    run = run_in("en-fr-learned")
    assert with_edits(replace(run, edits=Edits(off={"look-ahead"}))) == "with look-ahead mask off"
    assert with_edits(replace(run, pad_to=20)) == "with your changes"


def test_a_prompt_that_leaves_no_room_says_so(run_in, shown, said):
    run = run_in("GPT-2", "cat " * 100)
    compare_writing(run, run, of=NO_MODEL)
    ((words,),) = said
    assert "no room to write" in words
    assert not shown
