"""Goals of tasks: numbers and texts that the app measures in what a page shows."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from headlight.model.edits import Edits, HeadAddress
from headlight.model.edits.text import read_kind
from headlight.model.insight.roles import ROLES, why_not
from headlight.model.library.pieces import Piece, as_pieces
from headlight.model.transformer.trace import Site
from headlight.pages.shared.runs.arrays import tokens_of
from headlight.pages.shared.runs.heads import head_roles
from headlight.pages.shared.runs.run import written
from headlight.pages.shared.show.captions import site_words
from headlight.pages.shared.show.words import capital
from headlight.pages.shared.state import models
from headlight.pages.shared.state.wings import WINGS, first_known
from headlight.viz.numbers import number_text
from headlight.wings.exercises.scene import Scene, choice_of

NUMBER, TEXT = "number", "text"
NO_HEAD = "Choose a single head, not a mean or a maximum."
NO_TOKEN = "The text has no token “{token}”."
NO_SUCH_HEAD = "{model} does not have this head: {head}."
NO_TRAINING = "No training of the task “{task}” has a score here yet."


@dataclass(frozen=True)
class Goal:
    """What is measured, of what, how it is compared, and with what value."""

    measure: str
    compare: str
    value: float | str
    of: Mapping[str, str] = field(default_factory=dict)


def weight(scene: Scene, of: Mapping[str, str]) -> float:
    """Return the weight of a head, the chosen one or that of a goal, from one token to another."""
    kind, layer, head = head_of(scene, of)
    queries, keys = tokens_of(scene.run.trace(), kind)
    query, key = index_of(queries, of["query"]), index_of(keys, of["key"])
    return float(scene.run.record(Site(kind, layer)).weights[0, head, query, key])


def head_of(scene: Scene, of: Mapping[str, str]) -> HeadAddress:
    """Return the head of a goal, which counts from 1, or the chosen head; raises ValueError."""
    head = scene.head
    if "kind" in of:
        head = read_kind(of["kind"]), int(of["layer"]) - 1, int(of["head"]) - 1
    if head is None:
        raise ValueError(NO_HEAD)
    kind, layer, number = head
    layers, heads = scene.run.reader.shape.kinds.get(kind, (0, 0))
    if not (0 <= layer < layers and 0 <= number < heads):
        model = models.named(scene.run.model).title
        raise ValueError(NO_SUCH_HEAD.format(model=model, head=site_words(*head)))
    return head


def index_of(tokens: list[str], token: str) -> int:
    try:
        return [each.strip() for each in tokens].index(token.strip())
    except ValueError:
        raise ValueError(NO_TOKEN.format(token=token)) from None


def text(scene: Scene, of: Mapping[str, str]) -> str:
    """Return the text that the model writes by the chosen strategy, to its end."""
    return written(scene.run).text


def log_probability(scene: Scene, of: Mapping[str, str]) -> float:
    """Return the log-probability of the text that the model writes, in nats."""
    return written(scene.run).score


def heads_off(scene: Scene, of: Mapping[str, str]) -> float:
    return sum(gate == 0 for gate in scene.run.edits.gates.values())


def closed_cells(scene: Scene, of: Mapping[str, str]) -> float:
    return sum(not cell.opened for cell in scene.run.edits.cells)


def role(scene: Scene, of: Mapping[str, str]) -> float:
    """Return the score of the chosen head in the test of a role, from 0 to 1."""
    kind, layer, head = head_of(scene, {})
    run, name = scene.run, of["role"]
    elsewhere = "" if kind in ROLES[name].kinds else ROLES[name].elsewhere
    if reason := why_not(run.reader, name) or elsewhere:
        raise ValueError(reason)
    seed = scene.values.get("role_seed", 0)  # of the random tokens, chosen on the page Heads
    scores = head_roles(run.model, run.loading, seed, Edits(gates=run.edits.gates)).scores
    return float(scores[name][kind][layer, head])


def read_tokens(scene: Scene) -> list[Piece]:
    trace = scene.run.tokens()
    tokens = as_pieces(trace.source_tokens or trace.target_tokens)
    return [token for token in tokens if not token.is_special and not token.is_padding]


def tokens(scene: Scene, of: Mapping[str, str]) -> float:
    return len(read_tokens(scene))


def pieces(scene: Scene, of: Mapping[str, str]) -> float:
    """Return the largest number of tokens that one word is split into, without punctuation."""
    words = [token.word for token in read_tokens(scene) if any(map(str.isalnum, token.text))]
    return max(Counter(words).values(), default=0)


def choice(scene: Scene, of: Mapping[str, str]) -> str:
    """Return a choice of the page as its link writes it; empty if it has no value."""
    choice = choice_of(scene, of["choice"])
    value = scene.values[choice.key]
    return "" if value is None else choice.write(value)


def training(scene: Scene, of: Mapping[str, str]) -> float:
    """Return the newest score of the visitor's own training, from 0 to 1."""
    task, score = first_known(wing.trained() for wing in WINGS) or ("", 0.0)
    if task != of["task"]:
        raise ValueError(NO_TRAINING.format(task=of["task"]))
    return score


@dataclass(frozen=True)
class Measure:
    """A quantity that a goal can have: its words, its arguments, and how it is measured."""

    words: str
    kind: str
    take: Callable[[Scene, Mapping[str, str]], Any]
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    again: bool = True  # whether it can be measured again from the choices of a scene


OF_HEAD = ("kind", "layer", "head")
MEASURES = {
    "weight": Measure(
        "the weight from “{query}” to “{key}”", NUMBER, weight, ("query", "key"), OF_HEAD
    ),
    "role": Measure("the chosen head's score in the role “{role}”", NUMBER, role, ("role",)),
    "heads off": Measure("the number of heads switched off", NUMBER, heads_off),
    "closed cells": Measure("the number of cells closed by hand", NUMBER, closed_cells),
    "tokens": Measure("the number of tokens, without special ones", NUMBER, tokens),
    "pieces": Measure("the largest number of tokens in one word", NUMBER, pieces),
    "log-probability": Measure("the text's log-probability in nats", NUMBER, log_probability),
    "text": Measure("the text that the model writes", TEXT, text),
    "training": Measure(
        "the score of your training of “{task}”", NUMBER, training, ("task",), again=False
    ),
    "choice": Measure("the choice “{choice}”", TEXT, choice, ("choice",)),
}
COMPARED: dict[str, dict[str, Callable[[Any, Any], bool]]] = {
    NUMBER: {
        "under": lambda number, value: number < value,
        "over": lambda number, value: number > value,
        "at most": lambda number, value: number <= value,
        "at least": lambda number, value: number >= value,
    },
    TEXT: {
        "is": lambda text, value: text.strip() == value.strip(),
        "is not": lambda text, value: text.strip() != value.strip(),
        "has": lambda text, value: value in text,
        "lacks": lambda text, value: value not in text,
    },
}


@dataclass(frozen=True)
class Result:
    """Whether a goal is reached, and how far it is, in a sentence."""

    reached: bool
    words: str


def check(goal: Goal) -> None:
    """Raise ValueError with a sentence for a goal that makes no sense in any model."""
    measure = MEASURES.get(goal.measure)
    if measure is None:
        raise ValueError(f"{goal.measure} cannot be measured; take {', '.join(MEASURES)}.")
    if goal.compare not in COMPARED[measure.kind]:
        ways = ", ".join(COMPARED[measure.kind])
        raise ValueError(f"{goal.measure} is compared by {ways}, not by {goal.compare}.")
    if isinstance(goal.value, str) != (measure.kind == TEXT):
        raise ValueError(f"{goal.measure} is compared with a {measure.kind}.")
    if goal.compare in ("has", "lacks") and not goal.value:
        raise ValueError(f"Say which text {goal.measure} {goal.compare}.")
    if isinstance(goal.value, float) and not isfinite(goal.value):
        raise ValueError(f"{goal.measure} is compared with a finite number.")
    if missing := set(measure.needs) - set(goal.of):
        raise ValueError(f"{goal.measure} needs {min(missing)}.")
    if unknown := set(goal.of) - {*measure.needs, *measure.takes}:
        raise ValueError(f"{goal.measure} takes no {min(unknown)}.")
    if given := set(measure.takes) & set(goal.of):
        if given != set(measure.takes):
            raise ValueError(f"{goal.measure} takes all of {', '.join(measure.takes)} or none.")
        if not (goal.of["layer"].isdecimal() and goal.of["head"].isdecimal()):
            raise ValueError("Layers and heads are numbers from 1.")
        read_kind(goal.of["kind"])
    if "role" in goal.of and goal.of["role"] not in ROLES:
        raise ValueError(f"There is no role {goal.of['role']}; take {', '.join(ROLES)}.")


def measured(goal: Goal, scene: Scene) -> Result:
    """Measure a goal in a scene; what cannot be measured there is a sentence, and not reached."""
    measure = MEASURES[goal.measure]
    try:
        value = measure.take(scene, goal.of)
    except ValueError as error:
        return Result(False, str(error))
    reached = COMPARED[measure.kind][goal.compare](value, goal.value)
    labels = {}
    if named := goal.of.get("choice"):
        labels["choice"] = choice_of(scene, named).label or named
    words = capital(measure.words.format(**{**goal.of, **labels}))
    if "kind" in goal.of:
        words += f" in {site_words(*head_of(scene, goal.of))}"
    compare = "" if goal.compare == "is" else f"{goal.compare} "
    return Result(reached, f"{words}: {said(value)}; wanted: {compare}{said(goal.value)}")


def said(value: float | str) -> str:
    if isinstance(value, str):
        return f"“{value}”"
    return f"{value:g}" if float(value).is_integer() else number_text(value)
