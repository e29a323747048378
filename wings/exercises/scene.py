"""The scene of a task: what a page shows, from the visitor's choices or from those of a link."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import Edits, HeadAddress, read_edits
from headlight.pages.shared.address import now, read_parameters, shape_for, write_parameters
from headlight.pages.shared.runs.run import BEAM, ModelRun, hiding
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import (
    AS_TRAINED,
    BY_BEAM,
    EDITS,
    HEAD,
    LAYER,
    MASKED,
    MODEL,
    SECOND,
    SENTENCE,
    places_in,
)
from headlight.pages.shared.state.page import Page

NO_RUN = "The page {page} shows no run of a single text, so this cannot be measured there."
NO_CHOICE = "The page {page} has no choice “{choice}”."


@dataclass(frozen=True)
class Scene:
    """What a page shows: a run, the chosen head, and the choices, as values and as in links."""

    page: Page
    reads: ModelRun
    head: HeadAddress | None
    values: Mapping[str, Any]
    choices: Mapping[str, str]

    @property
    def run(self) -> ModelRun:
        """The run that the page shows; raises ValueError if it shows none, or more than one."""
        if SENTENCE in self.page.unread:
            raise ValueError(NO_RUN.format(page=self.page.title))
        return self.reads


def scene_of(page: Page) -> Scene:
    """Return what a page shows now; raises ValueError if its model is gone."""
    values = {choice.key: now(choice) for choice in page.linked}
    return scene_from(page, write_parameters(page.linked, values, whole=True))


def scene_from(page: Page, parameters: Mapping[str, str]) -> Scene:
    """Return what a page shows with the choices of a link; raises ValueError without its model."""
    shape = shape_for(parameters)
    values, _ = read_parameters(parameters, page.linked, shape)
    in_force = page.changes == "in force" and not values[AS_TRAINED.key]
    is_changed = in_force or page.changes == "all"
    run = ModelRun(
        values[SENTENCE.key],
        second=values[SECOND.key],
        edits=read_edits(values[EDITS.key], shape) if is_changed else Edits(),
        model=values[MODEL.key],
        strategy=BEAM if values[BY_BEAM.key] else Strategy(),
    )
    if run.second and "read a pair" in run.reader.missing:
        run = replace(run, second="")
    run = hiding(run, places_in(values[MASKED.key]))
    if page.own:
        run = page.own(run, values)
    layer, head = values[LAYER.key], values[HEAD.key]
    single = isinstance(layer, int) and isinstance(head, int)
    address = (values[page.kind.key], layer, head) if single else None
    return Scene(page, run, address, values, dict(parameters))


def choice_of(scene: Scene, key: str) -> Choice:
    """Return a choice of the page by its key; raises ValueError if the page does not have it."""
    for choice in scene.page.linked:
        if choice.key == key:
            return choice
    raise ValueError(NO_CHOICE.format(page=scene.page.title, choice=key))
