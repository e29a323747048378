"""What other pages get from the page Training: the models that the visitor trains."""

from headlight.model.snapshots import Snapshots
from headlight.pages.shared.state.models import workshop
from headlight.pages.shared.state.page import Page
from headlight.pages.shared.state.wings import Wing
from headlight.wings.training.page.page import PAGE
from headlight.wings.training.tasks import TASKS

__all__ = ["PAGE", "WING"]


class Trainings(Wing):
    """Gives other pages texts for visitors' models, and recordings of how their heads learned."""

    examples = tuple(dict.fromkeys(task.prompt(task.example) for task in TASKS.values()))

    def recording(self) -> tuple[str, Snapshots] | None:
        training = workshop().training
        return training and (f"Your training: {training.name}", training.job.look().snapshots)

    def trained(self) -> tuple[str, float] | None:
        training = workshop().training
        if training is None or not training.job.matches:
            return None
        return training.job.options.task, training.job.matches[-1][1]

    def lost(self, page: Page, why: str) -> None:
        if page is PAGE:
            workshop().refused = why


WING = Trainings()
