"""What the pages have a model do: the same as the model does by itself."""

from dataclasses import fields, replace

import pytest
import torch

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import CellEdit, Edits
from headlight.model.insight.scoring import log_probabilities
from headlight.model.library.loading import load_bert, load_model
from headlight.model.tokens import END_ID
from headlight.model.transformer.positions import PositionEdit
from headlight.model.transformer.trace import Site
from headlight.pages.shared.runs import run as module
from headlight.pages.shared.runs.run import ModelRun, decoded, hiding, is_written, written
from headlight.pages.shared.runs.shelf import shelf
from tests.pages.sessions import end

pytestmark = pytest.mark.usefixtures("one_session")
SENTENCE, TARGET = "I love my cat.", "J'adore mon chat."
CLOSED = CellEdit("encoder", 0, 1, opened=False)
EDITS = Edits(off=("look-ahead",), gates={("cross", 1, 2): 0.0}, cells=(CLOSED,))
WEIGHTS = Site("cross", 2)
OFF, MIXED, AS_TRAINED = PositionEdit(off=True), PositionEdit(order=(0, 2, 1)), PositionEdit()


def expect_equal(found, expected):
    """Two records of a site are the same, field by field."""
    for field in fields(expected):
        torch.testing.assert_close(getattr(found, field.name), getattr(expected, field.name))


def test_a_translation_is_the_translators_own(shipped):
    assert written(ModelRun(SENTENCE)).text == shipped.translate(SENTENCE).text
    edits = Edits(gates={("cross", layer, head): 0.0 for layer in (1, 2) for head in range(8)})
    changed = edits.at_sites(shipped.shape, shipped.default_new_tokens + 1)
    expected = shipped.translate(SENTENCE, edits=changed)
    assert written(ModelRun(SENTENCE, edits=edits)).text == expected.text
    assert expected.text != shipped.translate(SENTENCE).text
    assert is_written(ModelRun(SENTENCE))
    assert not is_written(ModelRun(f"{SENTENCE} {SENTENCE}"))
    assert written(ModelRun(SENTENCE, model="en-fr-learned")) is not written(ModelRun(SENTENCE))


def test_what_is_written_does_not_depend_on_the_target_that_is_read():
    assert written(ModelRun(SENTENCE, "Un chat.")).text == written(ModelRun(SENTENCE)).text


def test_with_edits_the_decoder_reads_the_translation_as_trained(shipped):
    plain, edited = (ModelRun(SENTENCE, edits=each).trace() for each in (Edits(), EDITS))
    assert edited.target_tokens == plain.target_tokens
    changed = EDITS.at_sites(shipped.shape, 20, len(plain.target_tokens))
    expected = shipped.trace(SENTENCE, shipped.translate(SENTENCE), edits=changed)
    torch.testing.assert_close(
        edited.attention[WEIGHTS].weights, expected.attention[WEIGHTS].weights
    )
    assert (edited.attention[WEIGHTS].weights != plain.attention[WEIGHTS].weights).any()


def test_the_text_the_decoder_reads_is_the_one_given_or_the_models_own_as_trained(shipped):
    own = shipped.translate(SENTENCE).text
    assert ModelRun(SENTENCE, edits=EDITS, moved=(OFF, OFF)).target_text() == own
    assert ModelRun(SENTENCE, TARGET, EDITS).target_text() == TARGET


def test_equal_runs_are_one_run():
    run = ModelRun(SENTENCE, TARGET, EDITS, pad_to=12, model="en-fr")
    again = ModelRun(SENTENCE, TARGET, Edits(**vars(EDITS)), pad_to=12, model="en-fr")
    assert run.trace() is again.trace() is ModelRun(SENTENCE, TARGET, EDITS, 12).trace()
    assert len(run.trace().source_tokens) == 12
    assert ModelRun(SENTENCE, TARGET, EDITS, 12, moved=(OFF, AS_TRAINED)).trace() is not run.trace()


def test_the_changes_of_a_run_are_those_of_its_own_tokens():
    run = ModelRun(SENTENCE, TARGET, EDITS, pad_to=12, model="en-fr")
    length = sum(token.text != "<pad>" for token in run.trace().target_tokens)
    expected = EDITS.at_sites(run.reader.shape, 12, length)
    assert length < 12
    assert run.changes().keys() == expected.keys()
    for site, edit in expected.items():
        for name, value in vars(edit).items():
            torch.testing.assert_close(getattr(run.changes()[site], name), value)
    assert ModelRun(SENTENCE, model="en-fr").changes() == {}


@pytest.mark.parametrize(
    ("moved", "sides"),
    [
        ((OFF, AS_TRAINED), {"encoder": OFF}),
        ((AS_TRAINED, PositionEdit(shift=3)), {"decoder": PositionEdit(shift=3)}),
        ((OFF, MIXED), {"encoder": OFF, "decoder": MIXED}),
    ],
)
def test_moved_positions_are_those_of_their_sides(moved, sides, shipped):
    plain, run = ModelRun(SENTENCE), ModelRun(SENTENCE, moved=moved)
    assert run.changes() == sides
    assert written(run).text == shipped.translate(SENTENCE, edits=sides).text
    assert run.trace().target_tokens == plain.trace().target_tokens
    expected = shipped.trace(SENTENCE, shipped.translate(SENTENCE), edits=sides)
    torch.testing.assert_close(run.trace().logits, expected.logits)
    assert (run.trace().logits - plain.trace().logits).abs().max() > 0.01


def test_positions_and_heads_are_changed_together(shipped):
    gates = Edits(gates={("encoder", 0, 1): 0.0})
    run = ModelRun(SENTENCE, TARGET, gates, moved=(OFF, AS_TRAINED))
    edits = {"encoder": OFF} | gates.at_sites(shipped.shape, 20)
    torch.testing.assert_close(
        run.trace().logits, shipped.trace(SENTENCE, TARGET, edits=edits).logits
    )
    assert run.as_trained == ModelRun(SENTENCE, TARGET)


def test_effects_are_on_what_the_model_says_as_trained(loaded, transformers_folders):
    folder = transformers_folders["classes"]
    edits = Edits(gates={("encoder", layer, head): 0.0 for layer in (0, 1) for head in range(4)})
    run = ModelRun(SENTENCE, edits=edits, model=loaded(folder))
    reader = load_model(folder)
    assert run.objective() == reader.objective(reader.trace(SENTENCE))
    assert run.objective().rows == (0,)


def test_a_decoding_is_the_translators_own(shipped):
    run = ModelRun(SENTENCE)
    result = decoded(run, Strategy("beam"), 20)
    expected = shipped.write(SENTENCE, Strategy("beam"), longest=20)
    assert result.writing.text == expected.writing.text
    assert result.path == expected.path
    assert decoded(run, Strategy("beam"), 20) is result
    with pytest.raises(ValueError, match="forced beginning has 3 tokens"):
        decoded(run, Strategy(), 1, forced=(5, 6, 7))


def test_a_decoding_begins_with_what_is_forced_and_is_as_long_as_asked(shipped):
    forced = tuple(token.id for token in shipped.begin("Mon"))
    result = decoded(ModelRun(SENTENCE, edits=EDITS), Strategy(), 3, forced).writing
    changed = EDITS.at_sites(shipped.shape, 40)
    expected = shipped.write(SENTENCE, longest=3, forced=forced, edits=changed).writing
    assert result.target_tokens == expected.target_tokens
    assert [token.id for token in result.target_tokens][: len(forced)] == list(forced)
    assert len(result.target_tokens) == 3
    assert not result.finished


def test_a_padded_text_is_translated_as_it_is_read(shipped):
    edits = Edits(off=("padding",))
    run = ModelRun(SENTENCE, edits=edits, pad_to=12)
    changed = edits.at_sites(shipped.shape, 12 + shipped.default_new_tokens)
    expected = shipped.write(SENTENCE, pad_to=12, edits=changed).writing
    assert written(run).score == pytest.approx(expected.score, abs=1e-4)
    assert written(run).score != pytest.approx(written(run.as_trained).score, abs=1e-3)
    assert written(run.as_trained).score == pytest.approx(
        shipped.translate(SENTENCE).score, abs=1e-4
    )


def test_hidden_words_are_hidden_from_a_model_that_fills_them_in(loaded, bert_folder, bert):
    run = ModelRun("the cat was playing.", second="it sat!", model=loaded(bert_folder))
    hidden = hiding(run, {2, 4, 0, 99})
    assert hidden.masked == (2, 4), "special tokens and places beyond the text cannot be"
    assert hiding(run, set()) is run
    expected = bert.trace(run.sentence, second=run.second, masked=(2, 4))
    assert hidden.trace().source_tokens == expected.source_tokens
    torch.testing.assert_close(hidden.trace().logits, expected.logits)
    assert hidden.objective() == bert.objective(expected)
    assert hidden.texts == "the cat was playing. / it sat!"
    assert run.objective() is None


@pytest.mark.parametrize("name", ["T5", "GPT-2", "headless"])
def test_nothing_is_hidden_from_other_models(name, loaded, transformers_folders):
    run = ModelRun(SENTENCE, model=loaded(transformers_folders[name]))
    assert hiding(run, {1}) is run


def test_nothing_is_hidden_from_a_translator():
    run = ModelRun(SENTENCE)
    assert hiding(run, {1}) is run


LIBRARY_MODELS = ("BERT", "T5", "Marian", "GPT-2", "DistilBERT", "classes")


@pytest.fixture
def folders(transformers_folders, bert_folder):
    return {**transformers_folders, "BERT": bert_folder}


@pytest.mark.parametrize("name", LIBRARY_MODELS)
def test_a_run_of_a_model_of_the_library_is_its_own(name, loaded, folders):
    reader, run = load_model(folders[name]), ModelRun(SENTENCE, model=loaded(folders[name]))
    expected = reader.trace(SENTENCE)
    assert run.trace().source_tokens == expected.source_tokens
    assert run.trace().target_tokens == expected.target_tokens
    assert set(run.trace().attention) == set(reader.shape.sites)
    for site in reader.shape.sites:
        expect_equal(run.record(site), expected.attention[site])
    if "write" in reader.missing:
        with pytest.raises(ValueError, match=reader.missing["write"]):
            written(run)
    else:
        assert written(run) == reader.write(SENTENCE).writing


@pytest.mark.parametrize("name", ["T5", "GPT-2"])
def test_edits_of_a_model_of_the_library_reach_what_it_writes(name, loaded, folders):
    reader, kind = load_model(folders[name]), "decoder"
    heads = range(reader.shape.heads(kind))
    edits = Edits(masks={("window", kind): (0,)}, gates={(kind, 0, head): 0.0 for head in heads})
    run = ModelRun(SENTENCE, edits=edits, model=loaded(folders[name]))
    changed = edits.at_sites(reader.shape, reader.shape.max_positions)
    expected = reader.write(SENTENCE, edits=changed).writing
    assert written(run).target_tokens == expected.target_tokens
    assert written(run).score == pytest.approx(expected.score, abs=1e-4)
    assert expected.score != pytest.approx(written(run.as_trained).score, abs=1e-3)


@pytest.mark.parametrize("name", ["en-fr-learned", *LIBRARY_MODELS])
def test_of_a_big_model_one_site_is_recorded_at_a_time(name, loaded, folders, monkeypatch):
    model = loaded(folders[name]) if name in folders else name
    run = ModelRun(
        SENTENCE,
        edits=Edits(masks={("window", "encoder"): (2,), ("window", "decoder"): (2,)}),
        model=model,
    )
    sites = run.reader.shape.sites
    expected = {site: run.record(site) for site in sites}
    whole = run.trace()
    assert set(whole.attention) == set(sites)
    monkeypatch.setattr(module, "IN_FULL", 0)
    end("one")  # so that nothing is kept
    assert not run.trace().attention
    assert set(run.trace().overview) == set(sites)
    for site in sites:
        rounded = run.trace().overview[site]
        assert rounded.dtype == torch.uint8
        torch.testing.assert_close(
            run.trace().site_weights(site), whole.site_weights(site), atol=0.5 / 255 + 1e-6, rtol=0
        )
        expect_equal(run.record(site), expected[site])
        assert run.record(site) is run.record(site)
    if whole.logits is not None:
        torch.testing.assert_close(run.trace().logits, whole.logits)


def test_what_is_recorded_in_full_depends_on_the_longest_text_and_the_heads(shipped):
    sites = module.sites_in_full
    heads = sum(layers * heads for layers, heads in shipped.shape.kinds.values())
    length = 2 * int((module.IN_FULL / heads) ** 0.5)  # characters, two to a token
    assert length / 2 > shipped.shape.max_positions, "the shipped model is always in full"
    assert sites(ModelRun("a" * 4_000), "b" * 4_000, WEIGHTS) is None


@pytest.mark.parametrize(
    "longer", [{"sentence": "a" * 22}, {"target": "b" * 22}, {"second": "c" * 22}, {"pad_to": 11}]
)
def test_a_long_text_on_either_side_makes_a_run_big(longer, monkeypatch):
    run = ModelRun(**{"sentence": "a"} | longer)
    heads = sum(layers * heads for layers, heads in run.reader.shape.kinds.values())
    monkeypatch.setattr(module, "IN_FULL", heads * 10**2)
    assert module.sites_in_full(run, run.target, WEIGHTS) == [WEIGHTS]
    assert module.sites_in_full(run, run.target, None) == []
    assert module.sites_in_full(ModelRun("a" * 20, pad_to=10), "b" * 20, WEIGHTS) is None


def test_a_model_that_is_loaded_again_makes_other_runs(loaded, make_bert_folder):
    folder = make_bert_folder(seed=21)
    first = ModelRun("the cat", model=loaded(folder))
    number, trace = first.loading, first.trace()
    assert number == shelf().get(str(folder)).number > 0
    assert replace(first, second="it") == ModelRun("the cat", second="it", model=first.model)
    del shelf().loaded[str(folder)]
    other = make_bert_folder(seed=22)
    for file in other.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    second = ModelRun("the cat", model=loaded(folder))
    assert second.model == first.model
    assert second.loading != number
    assert second != first
    expected = load_bert(other).trace("the cat").outputs["encoder"]
    torch.testing.assert_close(second.trace().outputs["encoder"], expected)
    assert (trace.outputs["encoder"] != expected).any()


def test_what_a_model_stumbles_over_is_an_error_in_words(loaded, folders, monkeypatch):
    run = ModelRun(SENTENCE, model=loaded(folders["GPT-2"]))

    def stumble(*_, **__):
        raise IndexError("index out of range in self\nand more")

    monkeypatch.setattr(run.reader, "trace", stumble)
    with pytest.raises(ValueError, match="could not be run on the text: index out of"):
        _ = run.trace()
    monkeypatch.setattr(run.reader, "write_text", stumble)
    with pytest.raises(ValueError, match="could not be run on the text: index out of"):
        decoded(run, Strategy())


def test_effects_are_on_what_was_written_up_to_the_limit():
    run = ModelRun("one two three four five six seven eight nine ten " * 9)
    writing, objective = written(run), run.objective()
    assert not writing.finished
    assert objective.ids == tuple(token.id for token in writing.target_tokens)
    total = log_probabilities(run.trace().logits, objective).sum().item()
    assert total == pytest.approx(writing.score, abs=1e-2)


def test_a_text_that_is_too_long_is_cut(shipped):
    assert not ModelRun(SENTENCE).is_cut
    long = ModelRun("cat " * 400)
    assert long.is_cut
    assert len(long.trace().source_tokens) == shipped.max_tokens + 1
    assert long.trace().source_tokens[-1].id == END_ID
