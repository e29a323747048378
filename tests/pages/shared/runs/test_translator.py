"""What the pages have a translator do: the same as the translator does by itself."""

import pytest
import torch

from model import Site
from model.decoding.strategies import Strategy
from model.edits import CellEdit, Edits
from pages.shared.runs.translator import (
    TranslatorRun,
    decoded,
    masks_of,
    translated,
    translator,
)

pytestmark = pytest.mark.usefixtures("one_session")
SENTENCE, TARGET = "I love my cat.", "J'adore mon chat."
CLOSED = CellEdit("encoder", 0, 1, opened=False)
EDITS = Edits(look_ahead=False, gates={("cross", 1, 2): 0.0}, cells=(CLOSED,))
WEIGHTS = Site("cross", 2)


def test_without_a_name_it_is_the_chosen_model_one_for_all():
    assert translator() is translator("en-fr")
    assert translator("en-fr-learned") is not translator()


def test_a_translation_is_the_translators_own(shipped):
    assert translated(SENTENCE).text == shipped.translate(SENTENCE).text
    changed = EDITS.at_sites(shipped.model.config, shipped.default_new_tokens + 1)
    assert translated(SENTENCE, EDITS).text == shipped.translate(SENTENCE, edits=changed).text
    assert translated(SENTENCE, name="en-fr-learned") is not translated(SENTENCE)


def test_with_edits_the_decoder_reads_the_translation_as_trained(shipped):
    plain, edited = (TranslatorRun(SENTENCE, edits=each).trace for each in (Edits(), EDITS))
    assert edited.target_tokens == plain.target_tokens
    changed = EDITS.at_sites(shipped.model.config, 20, len(plain.target_tokens))
    expected = shipped.trace(SENTENCE, shipped.translate(SENTENCE), edits=changed)
    torch.testing.assert_close(
        edited.attention[WEIGHTS].weights, expected.attention[WEIGHTS].weights
    )
    assert (edited.attention[WEIGHTS].weights != plain.attention[WEIGHTS].weights).any()


def test_equal_runs_are_one_run():
    run = TranslatorRun(SENTENCE, TARGET, EDITS, pad_to=12, model="en-fr")
    again = TranslatorRun(SENTENCE, TARGET, Edits(**vars(EDITS)), pad_to=12, model="en-fr")
    assert run.trace is again.trace is TranslatorRun(SENTENCE, TARGET, EDITS, 12).trace
    assert len(run.trace.source_tokens) == 12


def test_the_changes_of_a_run_are_those_of_its_own_tokens():
    run = TranslatorRun(SENTENCE, TARGET, EDITS, pad_to=12, model="en-fr")
    length = sum(token.text != "<pad>" for token in run.trace.target_tokens)
    expected = EDITS.at_sites(run.network.config, 12, length)
    assert run.changes.keys() == expected.keys()
    for site, edit in expected.items():
        for name, value in vars(edit).items():
            torch.testing.assert_close(getattr(run.changes[site], name), value)
    assert TranslatorRun(SENTENCE, model="en-fr").changes == {}


def test_an_effect_is_on_the_token_written_after_the_query():
    run = TranslatorRun(SENTENCE, TARGET, model="en-fr")
    objective = run.objective(Site("cross", 0), 1)
    assert [token.text for token in objective.tokens] == [run.trace.target_tokens[2].text]


def test_the_masks_are_those_of_the_run(shipped):
    run = TranslatorRun(SENTENCE, TARGET, pad_to=12, model="en-fr")
    for found, expected in zip(masks_of(run), shipped.masks(run.trace), strict=True):
        assert (found == expected).all()


def test_a_decoding_is_the_translators_own(shipped):
    found = decoded(SENTENCE, Strategy("beam"), 20)
    expected = shipped.steps(SENTENCE, strategy="beam", max_new_tokens=20)
    assert found.translation.text == expected.translation.text
    assert decoded(SENTENCE, Strategy("beam"), 20) is found
    with pytest.raises(ValueError, match="forced beginning has 3 tokens"):
        decoded(SENTENCE, Strategy(), 1, forced=(5, 6, 7))
