"""The translator that a talk's file can hold, with the JavaScript that runs it there."""

from headlight.model.translator import load
from headlight.pages.shared.state.wings import TalkModel, Wing

__all__ = ["WING"]


def talk_model() -> TalkModel:
    """Return the shipped translator with what runs and shows it in the file of a talk."""
    from headlight.wings.live.page import for_talks  # with what only this needs

    return for_talks(load("en-fr"))


class Live(Wing):
    """Runs the shipped translator without a server."""

    talk_model = staticmethod(talk_model)


WING = Live()
