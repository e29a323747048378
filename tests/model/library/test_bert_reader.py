import numpy as np
import pytest
import torch
from torch.testing import assert_close
from transformers import AutoTokenizer, BertForMaskedLM

from headlight.model.edits.positions import PositionEdit
from headlight.model.library.bert_reader import WordPieces
from headlight.model.library.files import read_config, read_tokenizer
from headlight.model.library.hub import LoadingError
from headlight.model.library.loading import load_bert
from headlight.model.library.measuring import Parity
from headlight.model.library.pieces import whole_words
from headlight.model.transformer.trace import Run, Site

FIRST, SECOND = "The cat, playing on the mat.", "It was unbelievable!"


@pytest.fixture(scope="module")
def headless(make_bert_folder):
    return load_bert(make_bert_folder("BertModel", type_vocab_size=1))


@pytest.mark.parametrize("second", [None, SECOND])
@pytest.mark.parametrize("first", [FIRST, "[MASK] cat [SEP] zebra ☃", "  a\tdog \n", "[PAD] [CLS]"])
def test_ids_and_segments_are_those_of_transformers(first, second, bert, bert_folder):
    theirs = AutoTokenizer.from_pretrained(bert_folder)(first, second)
    ids, segments = bert.model.inputs(bert.read(first, second))
    assert ids.tolist() == [theirs["input_ids"]]
    assert segments.tolist() == [theirs["token_type_ids"]]


def test_tokens_show_pieces_and_know_their_characters_words_and_segments(bert):
    pieces = bert.read(FIRST, SECOND)
    assert " ".join(piece.text for piece in pieces) == (
        "[CLS] the cat , play ##ing on the mat . [SEP] it was un ##believ ##able ! [SEP]"
    )
    for piece in pieces:
        typed = (FIRST, SECOND)[piece.segment][piece.start : piece.end]
        shown = "" if piece.is_special else piece.text.removeprefix("##")
        assert typed.lower() == shown
    assert [piece.segment for piece in pieces] == [0] * 11 + [1] * 7
    assert [piece.word for piece in pieces] == [*range(5), 4, *range(5, 13), 12, 12, 13, 14]
    assert " ".join(piece.text for piece in whole_words(pieces)) == (
        "[CLS] the cat , playing on the mat . [SEP] it was unbelievable ! [SEP]"
    )


def test_positions_that_it_says_it_cannot_move_are_not_moved(bert):
    with pytest.raises(ValueError, match="positions of a BERT cannot be changed here"):
        bert.trace(FIRST, edits={"encoder": PositionEdit(shift=1)})


def test_roles(bert):
    pieces = bert.read("a zebra [MASK]", pad_to=7)
    assert [piece.role for piece in pieces] == [
        "special", "written", "unknown", "mask", "special", "padding", "padding",
    ]  # fmt: skip
    assert [piece.text for piece in pieces[-2:]] == ["[PAD]", "[PAD]"]
    assert [piece.word for piece in pieces] == list(range(7))


def test_a_mask_stands_in_the_place_of_a_token(bert):
    pieces, masked = bert.read(FIRST), bert.read(FIRST, masked=[2])
    assert masked[2].text == "[MASK]"
    assert (masked[2].start, masked[2].end, masked[2].word) == (4, 7, 2)
    assert masked[:2] + masked[3:] == pieces[:2] + pieces[3:]


def test_masked_positions_may_be_a_tensor(bert):
    expected = bert.trace(FIRST, masked=[1, 2]).source_tokens
    assert bert.trace(FIRST, masked=torch.tensor([1, 2])).source_tokens == expected


@pytest.mark.parametrize("second", [None, "the dog " * 40])
def test_a_long_text_is_cut_to_what_the_model_takes(second, bert):
    pieces = bert.read("a cat " * 40, second)
    assert len(pieces) == bert.shape.max_positions == 32
    assert pieces[-1].text == "[SEP]"
    assert bert.is_cut("a cat " * 40, second)
    assert not bert.is_cut("a cat")
    assert bert.read("a", " ") == bert.read("a")


def test_a_second_sentence_too_many(headless):
    assert "read a pair" in headless.missing
    with pytest.raises(ValueError, match="give it one only"):
        headless.read("a", "b")


def test_too_much_padding(bert):
    with pytest.raises(ValueError, match="Cannot pad to 33 tokens: the model takes 32"):
        bert.read("a", pad_to=33)


def test_nobody_looks_at_padding_and_it_changes_nothing(bert):
    plain, padded = bert.trace(FIRST), bert.trace(FIRST, pad_to=20)
    assert (padded.weights("encoder")[..., 11:] == 0).all()
    assert_close(padded.outputs["encoder"][:, :11], plain.outputs["encoder"], atol=1e-5, rtol=0)


def test_predictions_are_transformers_probabilities(bert, bert_folder):
    result = bert.predict(FIRST, SECOND, masked=[2, 12], top=4)
    assert list(result) == [2, 12]
    ids, segments = bert.model.inputs(bert.read(FIRST, SECOND, masked=[2, 12]))
    with torch.inference_mode():
        logits = BertForMaskedLM.from_pretrained(bert_folder)(ids, token_type_ids=segments).logits
    for place, predictions in result.items():
        expected = logits[0, place].softmax(-1).topk(4)
        assert [prediction.id for prediction in predictions] == expected.indices.tolist()
        np.testing.assert_allclose([p.probability for p in predictions], expected.values, rtol=1e-4)
        names = AutoTokenizer.from_pretrained(bert_folder).convert_ids_to_tokens(expected.indices)
        assert [prediction.text for prediction in predictions] == names


def test_a_mask_that_was_typed_is_predicted_too(bert):
    typed, clicked = bert.predict("the [MASK] sat"), bert.predict("the cat sat", masked=[2])
    assert typed == clicked
    assert sum(p.probability for p in bert.predict("the [MASK] sat", top=99)[2]) == (
        pytest.approx(1, abs=1e-5)
    )


def test_without_the_masked_word_head_the_reason_is_said(headless):
    assert "mask words" in headless.missing
    with pytest.raises(ValueError, match=r"without the masked-word head.*Choose one that has it"):
        headless.predict("a [MASK]")


@pytest.mark.parametrize("arguments", [(FIRST,), (FIRST, SECOND), ("[PAD] a [MASK]", "zebra")])
@pytest.mark.parametrize("pad_to", [None, 30])
def test_parity_is_measured_on_the_text(arguments, pad_to, bert):
    parity = bert.parity(*arguments, pad_to=pad_to)
    assert max(parity) < 1e-5


@pytest.mark.matrix
def test_parity_with_trained_weights(trained_bert):
    reader = load_bert(trained_bert)
    first = "The animal didn't cross the street because it was too tired."
    assert max(reader.parity(first, "Transformers are unbelievably good ☃", pad_to=40)) < 1e-5
    assert max(reader.parity("word " * 600, "other " * 600)) < 1e-5


def test_parity_sees_a_difference(bert_folder):
    reader = load_bert(bert_folder)
    with torch.no_grad():
        reader.model.layers[1].attention.query.weight[0, 0] += 0.5
    states, weights = reader.parity(FIRST)
    assert isinstance(reader.parity(FIRST), Parity)
    assert min(states, weights) > 1e-3


def test_a_tokenizer_without_word_pieces_is_refused(bert, bert_folder):
    tokenizer = read_tokenizer(bert_folder, read_config(str(bert_folder)))
    tokenizer.mask_token = None
    with pytest.raises(LoadingError, match="is not that of a BERT with 30 tokens"):
        WordPieces(tokenizer, bert.model.config, bert_folder)


def test_masked_words_are_asked_for_and_measured(bert):
    trace = bert.trace(FIRST, second=SECOND, masked=[2, 8])
    questions = bert.questions(trace)
    assert [question[:2] for question in questions] == [
        ("In place of token 3", 0), ("In place of token 9", 1),
    ]  # fmt: skip
    objective = bert.objective(trace)
    assert (objective.rows, objective.texts) == ((0, 1), ("cat", "mat"))
    assert objective.ids == tuple(bert.read(FIRST, SECOND)[place].id for place in (2, 8))
    assert [bert.label(trace, questions[0], index) for index in objective.ids] == ["cat", "mat"]


def test_of_masks_that_were_typed_the_likeliest_words_count(bert):
    typed = bert.trace("the [MASK] sat")
    objective = bert.objective(typed)
    assert objective.ids == (typed.logits[0, 0].argmax().item(),)
    assert "likeliest" in objective.description
    both = bert.objective(bert.trace("the [MASK] sat", masked=[3]))
    assert (both.rows, both.texts) == ((1,), ("sat",))


@pytest.mark.parametrize("options", [{"masked": []}, {"kind": "BertModel"}], ids=str)
def test_without_a_mask_or_a_head_nothing_is_said(options, make_bert_folder):
    reader = load_bert(make_bert_folder(options.get("kind", "BertForMaskedLM")))
    trace = reader.trace(FIRST)
    assert trace.logits is None
    assert reader.rerun(trace, Run()).numel() == 0
    assert list(reader.questions(trace)) == []
    assert reader.objective(trace) is None


def test_a_class_is_chosen_by_its_name_and_a_score_is_no_choice(make_bert_folder):
    kind, names = "BertForSequenceClassification", ["sad", "glad", "so so"]
    labels = {
        "id2label": dict(enumerate(names)), "label2id": {name: i for i, name in enumerate(names)}
    }  # fmt: skip
    reader = load_bert(make_bert_folder(kind, **labels))
    trace = reader.trace(FIRST)
    (question,) = reader.questions(trace)
    assert [reader.label(trace, question, index) for index in range(3)] == names
    assert reader.objective(trace).texts == (names[trace.logits.argmax()],)
    several = load_bert(make_bert_folder(kind, **labels, problem_type="multi_label_classification"))
    for scores in (load_bert(make_bert_folder(kind, num_labels=1)), several):
        trace = scores.trace(FIRST)
        assert list(scores.questions(trace)) == []
        assert scores.objective(trace) is None


def test_what_it_cannot_do_is_said(bert):
    assert not {"mask words", "read a pair", "own layers", "take apart"} & {*bert.missing}
    for call in (bert.write, bert.begin):
        with pytest.raises(ValueError, match="Choose a model with a decoder"):
            call("the cat")
    with pytest.raises(ValueError, match="no decoder to read a target"):
        bert.trace(FIRST, SECOND)
    with pytest.raises(ValueError, match="There is no token 41 to mask: 11 are read"):
        bert.trace(FIRST, masked=[40])


def test_each_head_has_its_part_of_the_output_projection(bert):
    site = Site("encoder", 2)
    block = bert.model.attention_at(site)
    heads = torch.randn(1, 4, 5, 6)  # (B, H, Q, D)
    parts = torch.einsum("bhqd,hdm->bqm", heads, bert.heads_to_stream(site))
    assert_close(parts + block.output.bias, block.output(block.join(heads)), atol=1e-5, rtol=0)
