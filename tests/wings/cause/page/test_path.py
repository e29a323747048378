"""Paths over two edges: their numbers, their words, and where there are none."""

import numpy as np
import pytest
import torch

from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.model.insight.scoring import log_probabilities
from headlight.model.transformer.trace import Run
from headlight.viz.numbers import number_text
from headlight.wings.cause import knockout
from headlight.wings.cause.knockout import LEAST, edges_of, knock_out
from headlight.wings.cause.paths import two_steps
from tests.pages.apps import address, drawn, open_page, open_with
from tests.pages.pictures import heatmaps

SENTENCE = "The dog ate the meat because it was hungry."
TIRED = "The animal didn't cross the street because it was too tired."


def measured(reader, sentence, token, word, edits=Edits(), layers=None):
    """The words, the change without the first edge, and those without the second (2, words)."""
    written, edits = reader.translate(sentence), edits.at_sites(reader.shape, 40)
    trace = reader.trace(sentence, written)
    edges = edges_of(trace, reader, layers, written)
    words = [each.text for each in edges.words]
    row, column = edges.written.texts.index(token), words.index(word)
    _, blocks = knock_out(reader, trace, edges, edits)
    first = torch.cat(list(blocks), dim=-1)[row, column].item()
    parts = two_steps(reader, trace, edges, row, column, edits)
    return words, first, torch.cat(list(parts), dim=-1).numpy()


def told(app):
    """The sentences on a path."""
    return next(text.value for text in app.text if "with both edges closed" in text.value)


def signed(number):
    return number_text(number, 2, signed=True)


@pytest.mark.parametrize("layers", [None, range(1, 2)])
@pytest.mark.parametrize("edits", [Edits(), Edits(gates={("encoder", 1, 5): 0.0})])
def test_the_map_shows_the_second_edge_with_the_first_open_and_closed(shipped, edits, layers):
    chosen = {"edits": write_edits(edits)} if edits != Edits() else {}
    chosen |= {"knockout_layers": "2"} if layers else {}
    app = open_page("cause", sentence=SENTENCE, **chosen)
    options = {"edits": edits, "layers": layers}
    words, first, changes = measured(shipped, SENTENCE, "il", "it", **options)
    ends = [at for at, text in enumerate(words) if text != "it"]
    values, header = heatmaps(app)[2]
    assert header["columns"] == [words[end] for end in ends]
    rest = changes[1] - first
    wanted = np.stack([changes[0], rest, changes[0] - rest])[:, ends]
    np.testing.assert_allclose(values, wanted, atol=1e-4)
    np.testing.assert_allclose(heatmaps(app)[0][0][8, words.index("it")], first, atol=1e-4)


def test_the_page_opens_on_the_words_that_attention_opens_on_and_says_what_they_count(shipped):
    said = told(open_page("cause", sentence=SENTENCE))
    words, first, changes = measured(shipped, SENTENCE, "il", "it")
    end = words.index("dog")
    assert (
        f"The log-probability of “il” changes by {signed(first)} nats without “it”, by "
        f"{signed(changes[0, end])} if “it” may not look at “dog”, and by "
        f"{signed(changes[1, end])} with both edges closed."
    ) in said
    weights = shipped.trace(SENTENCE).weights("encoder")[..., words.index("it"), end]
    assert divmod(int(weights.argmax()), 8) == (1, 1)
    assert (
        "Encoder, layer 2, head 2 looks most from “it” at “dog”: weight "
        f"{number_text(weights.max().item(), 2)}."
    ) in said
    # The same cell closed by the page Masks.
    written = shipped.translate(SENTENCE)
    trace = shipped.trace(SENTENCE, written)
    cell = CellEdit("encoder", words.index("it"), end, False, 1, 1)
    run = Run(Edits(cells=(cell,)).at_sites(shipped.shape, 40))
    objective = edges_of(trace, shipped, None, written).written
    logits = shipped.rerun(trace, Run()), shipped.rerun(trace, run)
    before, after = (log_probabilities(each, objective)[0, 8].item() for each in logits)
    assert f"“il” changes by {signed(after - before)} nats, so it does not need this cell." in said
    assert ("No path by way of “it” was found" in said) == (not paths(words, first, changes, "it"))


def paths(words, first, changes, middle):
    """What goes from each word by way of the middle one, where closing its edge alone counts."""
    second, rest = changes[0], changes[1] - first
    return {
        word: second[end] - rest[end]
        for end, word in enumerate(words)
        if word != middle and LEAST <= abs(second[end]) > abs(rest[end])
    }


def test_the_strongest_path_is_the_one_that_carries_most(shipped):
    words, first, changes = measured(shipped, TIRED, "il", "it")
    read = [each.text for each in shipped.translate(TIRED).target_tokens]
    links = {"path_token": read.index("il") + 1, "path_word": words.index("it") + 1}
    said = told(open_page("cause", sentence=TIRED, **links))
    carried = paths(words, first, changes, "it")
    assert carried
    best = max(carried, key=lambda end: abs(carried[end]))
    assert f"by way of “it” comes from “{best}”: {signed(carried[best])} nats." in said


@pytest.mark.parametrize("sentence", [SENTENCE, TIRED])
def test_the_verdict_on_every_path_follows_from_its_numbers(shipped, sentence):
    words, first, changes = measured(shipped, sentence, "il", "it")
    read = shipped.translate(sentence).target_tokens
    token, word = [each.text for each in read].index("il"), words.index("it")
    kinds = set()
    for end in {*range(len(words))} - {word}:
        second, rest = changes[0, end], changes[1, end] - first
        links = {"path_token": token + 1, "path_word": word + 1, "path_end": end + 1}
        said = told(open_page("cause", sentence=sentence, **links))
        is_faint = abs(second) < LEAST
        is_on_the_way = not is_faint and abs(rest) < abs(second)
        assert ("This does not show" in said) == is_faint
        assert (f"{signed(second - rest)} nats, is what goes by way" in said) == is_on_the_way
        assert ("That is no less" in said) == (not is_faint and abs(rest) >= abs(second))
        kinds.add((is_faint, is_on_the_way))
    assert len(kinds) > 1


def test_another_token_and_word_are_chosen_and_kept_in_the_link():
    app = open_page("cause", sentence=SENTENCE)
    assert not {"path_token", "path_word", "path_end"} & {*address(app)}
    app.selectbox(key="path_token").set_value("5").run()
    assert "“la”" in told(app)
    app.selectbox(key="path_word").set_value("5").run()
    assert "without “meat”" in told(app)
    app.selectbox(key="path_end").set_value("2").run()
    assert "if “meat” may not look at “dog”" in told(app)
    assert [address(app)[f"path_{name}"] for name in ("token", "word", "end")] == ["5", "5", "2"]
    app.selectbox(key="path_word").set_value("2").run()
    assert not app.exception, "the word itself is not offered as the end"
    assert "if “dog” may not look at “" in told(app)


@pytest.mark.parametrize("name", ["Marian", "GPT-2"])
def test_a_path_is_shown_where_there_is_an_encoder_and_a_decoder(
    name, transformers_folders, monkeypatch
):
    monkeypatch.setattr(knockout, "LEAST", 1e-6)  # tiny models with random weights lose little
    app = open_with(transformers_folders[name], "cause", sentence=SENTENCE)
    assert not app.exception
    assert ("path" in drawn(app)) == (name == "Marian")
    assert [box.key for box in app.selectbox].count("path_token") == (name == "Marian")


def test_with_guess_first_a_path_comes_after_the_answer():
    app = open_page("cause", sentence=SENTENCE, guess="on")
    assert not {"knockout", "path"} & {*drawn(app)}
