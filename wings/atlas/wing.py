"""What the Atlas tells other pages about the heads that it has counted."""

from headlight.model.edits import HeadAddress
from headlight.model.insight.linking import Linked
from headlight.pages.shared.state.wings import Usual, Wing
from headlight.wings.atlas import calls
from headlight.wings.atlas.page.page import PAGE

__all__ = ["PAGE", "WING"]


class Atlas(Wing):
    """Tells other pages how heads usually score, and how often they link a pronoun to its noun."""

    def usual(self, model: str, pattern: str, head: HeadAddress) -> Usual | None:
        return calls.usual(model, pattern, *head)

    def linked(self, model: str) -> Linked | None:
        return calls.pronouns_linked(model)


WING = Atlas()
