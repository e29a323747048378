"""The models that come with the project."""

import pytest

from headlight.model.checkpoint import load_position_counts
from headlight.model.transformer.trace import Site
from headlight.model.translator import PRETRAINED, load
from headlight.pages.parts.positions.rotation import rotation_error

TRANSLATIONS = {
    "I love my cat.": {"J'aime mon chat.", "J'adore mon chat."},
    "How do you feel today?": {
        "Comment te sens-tu aujourd'hui ?",
        "Comment vous sentez-vous aujourd'hui ?",
    },
    "The red car is faster than the blue car.": {
        "La voiture rouge est plus rapide que la voiture bleue.",
        "La voiture rouge est plus rapide que la bleue.",
    },
}


def test_the_shipped_model_is_the_one_its_card_describes(shipped):
    config = shipped.model.config
    assert (config.d_model, config.heads, config.d_ff) == (256, 8, 1024)
    assert (config.encoder_layers, config.decoder_layers) == (5, 3)
    assert (config.norm, config.positions, config.tie_embeddings) == ("pre", "sinusoidal", True)
    assert 9e6 < sum(parameter.numel() for parameter in shipped.model.parameters()) < 12e6
    assert len(shipped.trace("I love my cat.").attention) == 11


@pytest.mark.parametrize("name", ["en-fr", "en-fr-unmasked", "en-fr-learned"])
def test_a_shipped_model_has_a_card_with_its_licence_and_is_small(name):
    card = (PRETRAINED / name / "README.md").read_text(encoding="utf-8")
    assert "python -m headlight.model.train" in card
    assert sum(path.stat().st_size for path in (PRETRAINED / name).iterdir()) < 30e6


@pytest.mark.parametrize(("source", "accepted"), TRANSLATIONS.items())
def test_ordinary_sentences_become_sensible_french(shipped, source, accepted):
    assert shipped.translate(source).text in accepted


def test_the_longest_example_keeps_its_parts(shipped):
    text = shipped.translate(
        "The animal didn't cross the street because it was too tired."
    ).text.lower()
    for word in ("animal", "rue", "parce", "trop", "fatigué"):
        assert word in text
    assert any(negation in text for negation in ("n'a pas", "ne "))


def test_weights_of_a_trained_model_differ_from_head_to_head(shipped):
    weights = shipped.trace("I love my cat.").attention[Site("cross", 2)].weights[0]
    assert (weights[0] - weights[1]).abs().max() > 0.05


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_learned_positions_are_trained_where_sentences_reach_and_random_beyond(side):
    model = load("en-fr-learned").model
    table = getattr(model, side).embedding.positions.table
    counts = load_position_counts(PRETRAINED / "en-fr-learned" / "reach.csv")[side]
    assert len(counts) == len(table) == 256
    assert counts == sorted(counts, reverse=True)
    norms, reached = table.norm(dim=1), sum(count > 0 for count in counts)
    assert norms[:20].min() > 1.5
    assert norms[reached:].mean().item() == pytest.approx(1, abs=0.05)  # as at the beginning
    card = (PRETRAINED / "en-fr-learned" / "README.md").read_text(encoding="utf-8")
    assert f"{counts[20]:,}" in card
    assert f"{counts[40]:,}" in card
    assert f"{reached - 1}" in card


def test_no_rotation_takes_learned_positions_on():
    table = load("en-fr-learned").model.encoder.embedding.positions.table.detach()
    assert rotation_error(table[:64], 1) > 1


def test_embeddings_are_much_shorter_than_positions_before_they_are_scaled(shipped):
    embedding = shipped.model.encoder.embedding
    assert embedding.tokens.weight.norm(dim=1).max() < embedding.positions.table[0].norm() / 4


def test_the_model_with_learned_positions_translates():
    assert load("en-fr-learned").translate("I love my cat.").text == "J'adore mon chat."


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(FileNotFoundError, match=r"nowhere is neither .*en-fr.* nor a folder"):
        load("nowhere")
