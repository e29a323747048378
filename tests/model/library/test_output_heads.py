"""Scores, labels and classes of tokens: the library's own numbers, as questions and objectives."""

import pytest
import torch
import transformers
from tokenizers import processors
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.ablation import head_removals
from headlight.model.insight.estimate import estimated_removals, gaps
from headlight.model.insight.scoring import log_probabilities
from headlight.model.library.loading import load_model
from headlight.model.transformer.trace import Site
from tests.model.library.conftest import FOLDERS

pytestmark = pytest.mark.usefixtures("one_thread")
TEXT, SECOND = "I love my cat.", "Where is the school?"
LABELS = ["rude", "short", "kind"]
SITE = Site("encoder", 0)


@pytest.fixture
def theirs(transformers_folders):
    """A function from a model and texts to the logits of the library's own model and tokenizer."""

    def logits(name, *texts):
        folder = transformers_folders[name]
        model = getattr(transformers, FOLDERS[name][0]).from_pretrained(folder).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        with torch.inference_mode():
            return model(**tokenizer(*texts, return_tensors="pt")).logits[0]

    return logits


@pytest.mark.parametrize("texts", [(TEXT,), (TEXT, SECOND)])
def test_a_score_is_the_librarys_own(texts, load, theirs):
    reader = load("score")
    trace = reader.trace(*texts[:1], second=(*texts, None)[1])
    objective = reader.objective(trace)
    (question,) = reader.questions(trace)
    assert (question.words, question.kind) == ("The score", "score")
    assert_close(log_probabilities(trace.logits, objective)[0], theirs("score", *texts))
    assert (objective.description, objective.unit) == ("the score", "units of the score")


@pytest.mark.parametrize("texts", [(TEXT,), (TEXT, SECOND)])
def test_a_label_has_a_probability_of_its_own(texts, load, theirs):
    reader = load("labels")
    trace = reader.trace(*texts[:1], second=(*texts, None)[1])
    expected = theirs("labels", *texts)
    assert_close(trace.logits[0].softmax(dim=-1)[:, 1], expected.sigmoid())
    assert_close(trace.logits[0].diff(dim=-1)[:, 0], expected)  # the log-odds
    questions = reader.questions(trace)
    assert [question.words for question in questions] == [f"The label “{x}”" for x in LABELS]
    has = [
        f"{'' if logit > 0 else 'not '}{name}" for name, logit in zip(LABELS, expected, strict=True)
    ]
    objective = reader.objective(trace)
    assert list(objective.texts) == has
    certain = expected.abs().sigmoid().log()
    assert_close(log_probabilities(trace.logits, objective)[0], certain)
    only = objective.only(2)
    assert only.description == "the log-probability of the chosen label"
    assert_close(log_probabilities(trace.logits, only)[0], certain[2:])


def test_each_token_of_a_text_has_a_class(load, theirs):
    reader = load("tags")
    trace = reader.trace(TEXT)
    expected = theirs("tags", TEXT)
    assert_close(trace.logits[0], expected)
    written = [i for i, piece in enumerate(trace.source_tokens) if not piece.is_special]
    assert [question.row for question in reader.questions(trace)] == written
    objective = reader.objective(trace)
    best = [["O", "PER", "LOC"][expected[row].argmax()] for row in written]
    read = [trace.source_tokens[row].text for row in written]
    assert list(objective.texts) == [f"{a}: {b}" for a, b in zip(read, best, strict=True)]
    own = reader.objective(trace, SITE, written[1])
    assert (own.rows, own.ids) == ((written[1],), (expected[written[1]].argmax().item(),))
    assert reader.objective(trace, SITE, 0) == objective  # <s> has no class of its own


@pytest.mark.parametrize("name", ["score", "labels", "tags"])
def test_effects_are_those_of_the_models_own_numbers(name, load):
    reader = load(name)
    trace = reader.trace(TEXT, second=SECOND)
    objective = reader.objective(trace)
    (site, changes), *_ = head_removals(reader, trace)
    for head, change in enumerate(changes):
        again = reader.trace(TEXT, second=SECOND, edits={site: gate_of(reader, head)})
        numbers = log_probabilities(again.logits, objective) - log_probabilities(
            trace.logits, objective
        )
        assert change.item() == pytest.approx(numbers.sum().item(), abs=1e-5)
    estimates = estimated_removals(reader, trace)
    (gap,) = gaps(reader, trace, [(site, 0)])
    assert sum(gap[:3]) == pytest.approx((changes[0] - estimates[site][0]).item(), abs=1e-4)
    assert (gap[0] == 0) == (name == "score")  # no softmax follows a score


def gate_of(reader, head):
    gate = torch.ones(reader.shape.heads("encoder"))
    gate[head] = 0
    return AttentionEdit(gate=gate)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("BertForSequenceClassification", {"num_labels": 1}),
        ("BertForSequenceClassification", {"num_labels": 2, "problem_type": "regression"}),
        ("BertForSequenceClassification", {"problem_type": "multi_label_classification"}),
        ("BertForTokenClassification", {"num_labels": 4}),
    ],
)
def test_a_bert_in_our_layers_gives_the_same(kind, options, make_bert_folder):
    folder = make_bert_folder(kind, **options)
    reader = load_model(folder)
    assert "own layers" not in reader.missing
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        expected = model(**tokenizer("the cat sat", "it was a dog", return_tensors="pt")).logits
    logits = reader.trace("the cat sat", second="it was a dog").logits
    if "problem_type" in options and options["problem_type"].startswith("multi"):
        logits = logits.diff(dim=-1)
    assert_close(logits.reshape(expected.shape), expected)


def test_several_scores_are_measured_together_or_one_at_a_time(make_bert_folder):
    names = {"id2label": {0: "valence", 1: "arousal"}, "label2id": {"valence": 0, "arousal": 1}}
    folder = make_bert_folder("BertForSequenceClassification", problem_type="regression", **names)
    reader = load_model(folder)
    trace = reader.trace("the cat sat")
    objective = reader.objective(trace)
    assert objective.texts == ("The score “valence”", "The score “arousal”")
    assert objective.description == "the sum of all scores"
    assert objective.only(1).description == "the chosen score"
    assert_close(log_probabilities(trace.logits, objective.only(1))[0], trace.logits[0, 1])


def test_the_tokenizers_own_token_types_are_read(transformers_folders, tmp_path, theirs):
    folder = transformers_folders["score"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    one_type = {"single": "<s> $A </s>", "pair": "<s> $A </s> </s> $B </s>"}
    special = {"special_tokens": [("<s>", 4), ("</s>", 1)]}
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        **one_type, **special
    )
    model = transformers.ElectraForSequenceClassification.from_pretrained(folder).eval()
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    reader = load_model(tmp_path)
    with torch.inference_mode():
        expected = model(**tokenizer(TEXT, SECOND, return_tensors="pt")).logits
    trace = reader.trace(TEXT, second=SECOND)
    assert_close(trace.logits[0], expected)
    assert {piece.segment for piece in trace.source_tokens} == {0, 1}
