"""BERT's heads of classes and of answers, against transformers' own, and what a reader says."""

import pytest
import torch
import transformers
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.library.bert import build_bert
from headlight.model.library.files import read_config, read_weights
from headlight.model.library.hub import LoadingError
from headlight.model.library.loading import load_bert
from headlight.model.stream import attention_at
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site

FIRST, SECOND = "was the cat playing?", "The dog sat on a mat because it was unbelievable."
LABELS = {
    "id2label": {0: "sad", 1: "glad", 2: "so so"},
    "label2id": {"sad": 0, "glad": 1, "so so": 2},
}
OPTIONS = {
    "BertForMaskedLM": {},
    "BertForSequenceClassification": LABELS,
    "BertForQuestionAnswering": {},
}


@pytest.fixture(scope="module")
def folders(make_bert_folder):
    return {kind: make_bert_folder(kind, **options) for kind, options in OPTIONS.items()}


@pytest.fixture(scope="module")
def readers(folders):
    return {kind: load_bert(folder) for kind, folder in folders.items()}


@pytest.fixture(scope="module")
def classes(readers):
    return readers["BertForSequenceClassification"]


@pytest.fixture(scope="module")
def spans(readers):
    return readers["BertForQuestionAnswering"]


def traced(kind, reader, **options):
    masked = [3, 9] if kind == "BertForMaskedLM" else []
    return reader.trace(FIRST, second=SECOND, masked=masked, **options)


def theirs(kind, folder, reader, trace):
    """What transformers' own model says about the tokens of a trace, in our rows."""
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    ids, segments = reader.model.inputs(trace.source_tokens)
    with torch.inference_mode():
        result = model(ids, attention_mask=ids != 0, token_type_ids=segments)
    if kind == "BertForQuestionAnswering":
        return torch.stack([result.start_logits, result.end_logits], dim=1)
    if kind == "BertForMaskedLM":
        return result.logits[:, [3, 9]]
    return result.logits[:, None]


@pytest.mark.parametrize("pad_to", [None, 30])
@pytest.mark.parametrize("kind", OPTIONS)
def test_logits_equal_transformers(kind, pad_to, folders, readers):
    reader = readers[kind]
    trace = traced(kind, reader, pad_to=pad_to)
    expected = theirs(kind, folders[kind], reader, trace)
    assert_close(trace.logits, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", OPTIONS)
def test_another_run_over_a_trace_says_the_same_and_records_it(kind, readers):
    reader, again = readers[kind], Trace()
    trace = traced(kind, reader)
    with torch.inference_mode():
        assert_close(reader.rerun(trace, Run(trace=again)), trace.logits)
    assert_close(again.logits, trace.logits)
    assert set(again.attention) == set(reader.shape.sites)


@pytest.mark.parametrize("kind", OPTIONS)
def test_gates_make_a_batch_and_have_a_gradient(kind, readers):
    reader, site = readers[kind], Site("encoder", 1)
    trace = traced(kind, reader)
    gates = (1 - torch.eye(4)).requires_grad_()
    together = reader.rerun(trace, Run({site: AttentionEdit(gates)}))
    assert together.shape == (4, *trace.logits.shape[1:])
    for row, gate in zip(together, gates, strict=True):
        alone = traced(kind, reader, edits={site: AttentionEdit(gate.detach())})
        assert_close(row[None], alone.logits, atol=1e-5, rtol=1e-4)
    together.square().sum().backward()
    assert gates.grad.abs().min() > 0


def test_a_checkpoint_without_a_head_says_nothing(make_bert_folder):
    reader = load_bert(make_bert_folder("BertModel"))
    trace = reader.trace(FIRST)
    assert trace.logits is None
    assert reader.rerun(trace, Run()).numel() == 0
    assert list(reader.questions(trace)) == []
    assert reader.objective(trace) is None


def test_without_a_mask_a_head_of_words_says_nothing(readers):
    reader = readers["BertForMaskedLM"]
    trace = reader.trace(FIRST)
    assert trace.logits is None
    assert reader.rerun(trace, Run()).shape == (1, 0, 30)
    assert list(reader.questions(trace)) == []
    assert reader.objective(trace) is None


def test_masked_words_are_asked_for_and_measured(readers):
    reader = readers["BertForMaskedLM"]
    trace = reader.trace(FIRST, second=SECOND, masked=[3, 9])
    questions = reader.questions(trace)
    assert [question[:2] for question in questions] == [
        ("In place of token 4", 0), ("In place of token 10", 1),
    ]  # fmt: skip
    objective = reader.objective(trace)
    assert (objective.rows, objective.texts) == ((0, 1), ("cat", "dog"))
    assert objective.ids == tuple(reader.read(FIRST, SECOND)[place].id for place in (3, 9))
    labels = [reader.label(trace, questions[0], index) for index in objective.ids]
    assert labels == ["cat", "dog"]


def test_of_masks_that_were_typed_the_likeliest_words_count(readers):
    reader = readers["BertForMaskedLM"]
    typed = reader.trace("the [MASK] sat")
    objective = reader.objective(typed)
    assert objective.ids == (typed.logits[0, 0].argmax().item(),)
    assert "likeliest" in objective.description
    both = reader.trace("the [MASK] sat", masked=[3])
    assert (reader.objective(both).rows, reader.objective(both).texts) == ((1,), ("sat",))


def test_a_class_is_chosen_by_its_name(classes):
    trace = classes.trace(FIRST)
    (question,) = classes.questions(trace)
    assert question[:2] == ("The class", 0)
    assert [classes.label(trace, question, index) for index in range(3)] == ["sad", "glad", "so so"]
    likeliest = trace.logits[0, 0].argmax().item()
    objective = classes.objective(trace)
    assert (objective.rows, objective.ids) == ((0,), (likeliest,))
    assert objective.texts == (["sad", "glad", "so so"][likeliest],)


@pytest.mark.parametrize(
    "options",
    [{"num_labels": 1}, {"num_labels": 3, "problem_type": "multi_label_classification"}],
    ids=["one score", "several at once"],
)
def test_a_score_is_no_choice(options, make_bert_folder):
    reader = load_bert(make_bert_folder("BertForSequenceClassification", **options))
    trace = reader.trace(FIRST)
    assert trace.logits.shape == (1, 1, options["num_labels"])
    assert list(reader.questions(trace)) == []
    assert reader.objective(trace) is None


def test_an_answer_begins_and_ends_at_places_of_the_text(spans):
    trace = spans.trace(FIRST, second=SECOND)
    begins, ends = spans.questions(trace)
    assert begins.together == spans.answer(trace).text
    assert [item[:2] for item in (begins, ends)] == [
        ("Where the answer begins", 0), ("Where the answer ends", 1),
    ]  # fmt: skip
    assert spans.label(trace, begins, 9) == "10: dog"


def test_the_answer_is_the_likeliest_span_of_the_second_text(spans):
    trace = spans.trace(FIRST, second=SECOND)
    pieces = trace.source_tokens
    begins, ends = trace.logits[0].log_softmax(-1)
    spans_of_it = [
        ((begins[start] + ends[end]).exp().item(), start, end)
        for start in range(len(pieces))
        for end in range(start, len(pieces))
        if pieces[start].segment == pieces[end].segment == 1 and not pieces[end].is_special
    ]
    probability, start, end = max(spans_of_it)
    result = spans.answer(trace)
    assert (result.start, result.end) == (start, end)
    assert result.probability == pytest.approx(probability, rel=1e-4)
    assert result.text.split()[0] == pieces[start].text.removeprefix("##")
    objective = spans.objective(trace)
    assert (objective.rows, objective.ids) == ((0, 1), (start, end))


def test_only_a_head_of_answers_answers(classes):
    with pytest.raises(ValueError, match="without the head that finds answers"):
        classes.answer(classes.trace(FIRST))


@pytest.mark.parametrize(
    ("kind", "name"),
    [("BertForSequenceClassification", "classifier"), ("BertForQuestionAnswering", "qa_outputs")],
)
def test_a_head_of_another_size_is_named(kind, name, make_bert_folder):
    folder = make_bert_folder(kind)
    weights = read_weights(folder)
    weights[f"{name}.weight"] = torch.zeros(7, 24)
    with pytest.raises(LoadingError, match=r"head\.output\.weight has the shape \(7, 24\)"):
        build_bert(read_config(str(folder)), weights, "tiny")


def test_what_a_bert_can_do_and_cannot(classes, readers, make_bert_folder):
    assert classes.shape.sites == [Site("encoder", layer) for layer in range(3)]
    assert (classes.shape.heads("encoder"), classes.shape.max_positions) == (4, 32)
    assert {"write", "mask words"} <= {*classes.missing}
    words = readers["BertForMaskedLM"]
    assert not {"mask words", "read a pair", "own layers", "take apart"} & {*words.missing}
    single = load_bert(make_bert_folder(type_vocab_size=1))
    assert "read a pair" in single.missing
    for call in (words.write, words.begin):
        with pytest.raises(ValueError, match="Choose a model with a decoder"):
            call("the cat")
    with pytest.raises(ValueError, match="no decoder to read a target"):
        words.trace(FIRST, SECOND)


def test_a_place_that_is_not_there_cannot_be_masked(readers):
    with pytest.raises(ValueError, match="There is no token 41 to mask: 8 are read"):
        readers["BertForMaskedLM"].trace(FIRST, masked=[40])


def test_other_sites_keep_their_weights_in_bytes(readers):
    reader, site = readers["BertForMaskedLM"], Site("encoder", 1)
    whole, some = reader.trace(FIRST, masked=[2]), reader.trace(FIRST, masked=[2], sites=[site])
    assert set(some.attention) == {site}
    assert set(some.overview) == {Site("encoder", 0), Site("encoder", 2)}
    assert {kept.dtype for kept in some.overview.values()} == {torch.uint8}
    assert_close(some.weights("encoder"), whole.weights("encoder"), atol=0.51 / 255, rtol=0)
    assert torch.equal(some.attention[site].weights, whole.attention[site].weights)
    assert torch.equal(some.logits, whole.logits)


def test_each_head_has_its_part_of_the_output_projection(readers):
    reader, site = readers["BertForMaskedLM"], Site("encoder", 2)
    block = attention_at(reader.model, site)
    heads = torch.randn(1, 4, 5, 6)  # (B, H, Q, D)
    parts = torch.einsum("bhqd,hdm->bqm", heads, reader.heads_to_stream(site))
    assert_close(parts + block.output.bias, block.output(block.join(heads)), atol=1e-5, rtol=0)
