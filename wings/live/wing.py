"""Offer the shipped translator for a talk's file, with the JavaScript that runs it there."""

from headlight.model.translator import load
from headlight.pages.shared.state.wings import TalkModel, Wing

__all__ = ["WING"]


def talk_model() -> TalkModel:
    """Return the shipped translator's weights, with the scripts that run it in a talk's file."""
    from headlight.wings.live.page import for_talks  # imported here because no page needs it

    return for_talks(load("en-fr"))


class Live(Wing):
    """Lets a talk's file run the shipped translator without a server."""

    talk_model = staticmethod(talk_model)


WING = Live()
