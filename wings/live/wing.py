"""The model that the file of a talk can hold, with its second forward pass."""

from headlight.model.translator import load
from headlight.pages.shared.state.page import TalkModel, Wing

__all__ = ["WING"]


def talk_model() -> TalkModel:
    """Return the shipped translator with what runs and shows it in a browser."""
    from headlight.wings.live.page import IN_DECK, PANEL, header, pictures, weights_file

    translator = load("en-fr")
    weights = weights_file(translator.model, translator.tokenizer)
    return TalkModel(weights, IN_DECK, PANEL, header(), pictures())


class Live(Wing):
    """Runs the shipped translator without a server."""

    talk_model = staticmethod(talk_model)


WING = Live()
