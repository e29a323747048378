"""Our search over the cache of every family, against the library's own and one pass over all."""

from types import SimpleNamespace

import pytest
import torch
from torch.testing import assert_close

from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.attention import AttentionEdit
from headlight.model.library.attachment import attach_code
from headlight.model.library.pieces import Piece
from headlight.model.library.writing import Writer
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from tests.matrix import first_of
from tests.model.library import test_foreign_code as foreign_code
from tests.model.library.families import DECODERS, END, PAD, PAIRS, make_inputs, make_model

pytestmark = pytest.mark.usefixtures("one_thread")

LONGEST = 12
# All that is asked of a tokenizer.
TOKENS = SimpleNamespace(max_tokens=64, known=1_000)
STRATEGIES = {"greedy": Strategy(), "beam": Strategy("beam", beam_size=3)}
OF_FOREIGN_CODE = (*foreign_code.WRITERS, "LongT5", "FSMT")  # attend without the interface
NAMES = [*first_of(DECODERS, 5), *first_of(PAIRS, 2), *first_of(OF_FOREIGN_CODE, 2)]


def built(name):
    """A family's model, as the library runs it."""
    return (
        foreign_code.build(*foreign_code.FAMILIES[name][:2])
        if name in OF_FOREIGN_CODE
        else make_model(name)
    )


@pytest.fixture(scope="module")
def attach(attached):
    """A function from a family to its model and how it is attached."""
    made = {}

    def get(name):
        if name not in made and name in OF_FOREIGN_CODE:
            model = built(name)
            made[name] = model, attach_code(model, foreign_code.inputs_of(model), name)
        return made[name] if name in made else attached(name)

    return get


def piece(index):
    return Piece(index, str(index), 0, 0)


def beginnings(name):
    """What the encoder reads, if there is one, and what the decoder has read."""
    ids = make_inputs("Llama")["input_ids"][0].tolist()
    start = PAD if name in ("T5", "LongT5") else END
    source, begun = (ids, [start, *ids[1:3]]) if name in (*PAIRS, "LongT5") else ([], ids)
    if name == "FSMT":  # in which the library looks ahead after more than the start token
        source, begun = ids, [2]
    return [piece(index) for index in source], [piece(index) for index in begun]


def inputs_of(source, read):
    """What a model is called with for what is read on both sides."""
    ids = torch.tensor([[token.id for token in read]])
    if not source:
        return {"input_ids": ids}
    return {
        "input_ids": torch.tensor([[token.id for token in source]]),
        "decoder_input_ids": ids,
    }


def edits_of(attachment):
    """A gate and closed cells; and a scale where there is a place for one."""
    block = torch.zeros(30, 30, dtype=torch.bool)
    block[6:, 3] = block[12, 8] = True
    gate = torch.linspace(0, 1, attachment.kinds["decoder"][1])
    scale = None if attachment.missing else 0.3
    edits = {
        Site("decoder", 0): AttentionEdit(gate=gate, block=block),
        Site("decoder", attachment.kinds["decoder"][0] - 1): AttentionEdit(gate=gate, scale=scale),
    }
    if "cross" in attachment.kinds:
        for kind in ("cross", "encoder"):
            gate = torch.linspace(0, 1, attachment.kinds[kind][1])
            edits[Site(kind, 0)] = AttentionEdit(gate=gate)
    return edits


@pytest.mark.parametrize("name", NAMES)
def test_greedy_and_beams_write_what_the_library_does(name, attach):
    model, attachment = attach(name)
    source, begun = beginnings(name)
    for strategy in STRATEGIES.values():
        outputs = built(name).generate(
            **inputs_of(source, begun), max_new_tokens=LONGEST, do_sample=False,
            num_beams=strategy.width, early_stopping="never" if strategy.width > 1 else None,
        )  # fmt: skip
        found = Writer(model, TOKENS, attachment).decode(source, begun, strategy, LONGEST)
        assert found.written == outputs[0, len(begun) :].tolist()


@pytest.mark.parametrize("penalty", first_of([0.5, 0.0, 1.0, 2.0]))
@pytest.mark.parametrize("name", ["GPT-2", "Llama", "Gemma 2", "BART", "Marian", "T5"])
def test_a_beam_goes_on_beside_texts_that_end(name, penalty, attach, monkeypatch):
    model, attachment = attach(name)
    monkeypatch.setattr(model.generation_config, "eos_token_id", [END, 5, 9, 13, 17])
    source, begun = beginnings(name)
    strategy, record = Strategy("beam", beam_size=4, length_penalty=penalty), []
    found = Writer(model, TOKENS, attachment).decode(
        source, begun, strategy, LONGEST, record=record
    )
    theirs = built(name)
    theirs.generation_config.eos_token_id = model.generation_config.eos_token_id
    written = theirs.generate(
        **inputs_of(source, begun), max_new_tokens=LONGEST, do_sample=False,
        num_beams=4, length_penalty=penalty, early_stopping="never",
    )  # fmt: skip
    assert found.written == written[0, len(begun) :].tolist()
    assert all(len(step.log_probabilities) == 4 for step in record[1:])


@pytest.mark.parametrize("strategy", first_of(STRATEGIES))
@pytest.mark.parametrize("name", NAMES)
def test_every_step_is_the_row_of_one_pass_under_its_edits(name, strategy, attach):
    model, attachment = attach(name)
    edits, (source, begun), record = edits_of(attachment), beginnings(name), []
    found = Writer(model, TOKENS, attachment).decode(
        source, begun, STRATEGIES[strategy], LONGEST, edits=edits, record=record
    )
    target = [piece(index) for index in found.written]
    decoding = Decoding(
        Writing("", "", source, target, found.log_probability, found.finished, []),
        STRATEGIES[strategy], record,
        begun=begun, ends={END}, append=lambda text, _, index: (text, piece(index)),
    )  # fmt: skip
    trace = Trace()
    with torch.inference_mode(), attachment.watching(Run(edits, trace)):
        logits = model(**inputs_of(source, decoding[-1].read), use_cache=False).logits
    for query, step in enumerate(decoding, start=len(begun) - 1):
        expected = logits[0, query].log_softmax(-1)
        assert_close(step.log_probabilities, expected, atol=2e-4, rtol=1e-4)
        for site, weights in step.weights.items():
            keys = len(source) if site.kind == "cross" else query + 1
            assert_close(
                weights, trace.attention[site].weights[0, :, query, :keys], atol=1e-5, rtol=1e-4
            )
            closed = trace.attention[site].masked_scores[0, :, query, :keys].isinf()
            assert torch.equal(step.visible[site], ~closed)
    total = sum(step.log_probability for step in decoding)
    assert decoding.writing.score == pytest.approx(total, abs=1e-4)
