"""The controls at the top of a page: the text, the model that reads it, and the text's tokens."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import Edits
from headlight.model.library.pieces import Piece, as_pieces
from headlight.model.reader import Reader
from headlight.model.shape import Ability
from headlight.pages.shared.controls import loading
from headlight.pages.shared.runs.readers import reader
from headlight.pages.shared.runs.run import BEAM, ModelRun, hiding, written
from headlight.pages.shared.runs.shelf import any_is_allowed
from headlight.pages.shared.show.comparison import say_outcome, show_writing, with_edits
from headlight.pages.shared.show.pictures import all_picked, show
from headlight.pages.shared.show.saving import About
from headlight.pages.shared.show.texts import chips
from headlight.pages.shared.show.words import capital, notes, where_cut
from headlight.pages.shared.state import models
from headlight.pages.shared.state.choice import Choice
from headlight.pages.shared.state.choices import (
    BY_BEAM,
    GUESS_ROW,
    LIT,
    MASKED,
    MODEL,
    SECOND,
    SENTENCE,
    chosen,
    places_in,
    put,
)
from headlight.pages.shared.state.models import CatalogEntry
from headlight.pages.shared.state.showing import NOTE, place, showing
from headlight.pages.shared.state.wings import allows, if_clicks
from headlight.pages.shared.widgets.choose import choose, pick_one
from headlight.viz import token_strip

EMPTY = "Type {asked} above, or pick one of the examples."
TARGET_HELP = (
    "The text that the decoder reads, and that effects are measured on. If empty, it is the text "
    "that the model writes."
)
WRITTEN = "Written by a beam of {size}."
BEFORE = "Still shown: {}"
ANOTHER = "another"  # the option that opens the page Models
MASK_HINT = "Click a word to hide it from the model, again to bring it back."


def ask(
    *needs: Ability, target: Choice | None = None, examples: Iterable[str] = ()
) -> ModelRun | None:
    """Draw the choices of text, model and example; return the run of the chosen text and model.

    The run is without changes to the model. Return None, with a message on the page, if the model
    is not in memory, can read no text yet, or lacks one of the abilities `needs`. A text that
    cannot be read is replaced by the last readable one. With a `target`, a model of encoder and
    decoder also gets a box for the text that the decoder reads. The page's own `examples` are
    offered with the default model only.
    """
    loading.arrived()
    entry = models.chosen()
    with st.container(key="asked"):
        text, choice = st.columns([2, 1], gap="small")
    with choice, st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        more = examples if entry.key == models.DEFAULT else ()
        pick_one("Examples", [*more, *entry.examples], "example", read_another)
        choose_model()
    try:
        model = reader()
    except ValueError as error:  # the model may not be in memory
        with place(NOTE):
            loading.offer(entry.name, str(error))
        return None
    with text, st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        texts = text_boxes(model)
        asked = target if "cross" in model.shape.kinds else None
        beside = st.popover(asked.label) if asked and allows(asked.key) else None
    run = readable(texts)
    if run and asked and beside:
        with beside:
            run = with_target(run, asked)
    for note in where_cut(run) if run else ():
        st.info(note)
    by_beam = run and run.strategy == BEAM and "cross" in run.reader.shape.kinds
    if by_beam and showing().scene() is None:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.text(WRITTEN.format(size=BEAM.beam_size))
            st.button("Back to greedy", type="tertiary", on_click=put, args=[BY_BEAM, False])
    return run if run and all(can(run, need) for need in needs) else None


def with_target(run: ModelRun, choice: Choice) -> ModelRun:
    """Draw the box for the text that a decoder reads, and return the run with it."""
    own = "" if "write" in run.reader.missing else run.target_text()
    return replace(run, target=choose(choice, placeholder=own, help=TARGET_HELP))


def can(run: ModelRun, ability: Ability) -> bool:
    """Return whether a run's model has an ability; if not, draw the reason."""
    why_not = run.reader.missing.get(ability)
    if why_not:
        with place(NOTE):
            st.info(why_not)
    return why_not is None


def choose_model() -> None:
    """Draw the choice of a model: the shipped ones, the visitor's, and “Load another …”."""
    before = models.chosen()
    titles = {key: entry.title for key, entry in models.choices().items()}
    titles.setdefault(before.key, before.title)
    if any_is_allowed():
        titles[ANOTHER] = "Load another …"

    def changed() -> None:
        if chosen(MODEL) == ANOTHER:
            put(MODEL, before.key)
            st.session_state.to_models = True
        else:
            models.leave(before)

    choose(MODEL, titles, widget=st.selectbox, format_func=titles.get, on_change=changed)
    if st.session_state.pop("to_models", False):
        st.switch_page("pages/models.py")


def text_boxes(model: Reader) -> tuple[str, str]:
    """Draw the box for a text, and one for a second sentence if the model can read two."""
    entry = models.chosen()
    label = text_label(entry, model)
    asked = f"Type {entry.asks_for} and press Enter"
    if "read a pair" in model.missing:
        return text_box(SENTENCE, label, asked), ""
    return text_box(SENTENCE, label, asked), text_box(SECOND, SECOND.label, "")


def text_label(entry: CatalogEntry, model: Reader) -> str:
    """Return the label of the box for the model's text, such as “English sentence” or “Prompt”."""
    label = entry.asks_for.partition(" ")[2]
    if "cross" not in model.shape.kinds and "write" not in model.missing:
        label = "prompt"
    return capital(label)


def text_box(choice: Choice, label: str, placeholder: str) -> str:
    return choose(choice, label=label, placeholder=placeholder, on_change=forget_replaced)


def read_another(text: str) -> None:
    put(SENTENCE, text)
    forget_tokens()


def forget_replaced() -> None:
    """Reset the choices about the previous text, unless the box is empty now; a callback."""
    if chosen(SENTENCE).strip():
        forget_tokens()


def forget_tokens() -> None:
    """Reset the choices about the previous text, such as its hidden tokens; a callback."""
    put(BY_BEAM, False)
    put(MASKED, "")
    put(LIT, "")
    put(GUESS_ROW, None)


def readable(texts: tuple[str, str]) -> ModelRun | None:
    """Return the run of these texts if the model can read them, else of the last readable texts.

    Return None if there are no such texts yet.
    """
    strategy = BEAM if chosen(BY_BEAM) else Strategy()
    run = ModelRun(texts[0], second=texts[1], strategy=strategy)
    try:
        _ = run.trace()
    except ValueError as error:
        last = models.last_readable()
        said = str(error) if texts[0].strip() else EMPTY.format(asked=models.chosen().asks_for)
        st.text(" ".join([said, BEFORE.format(" / ".join(filter(None, last)))]) if last else said)
        if last is None:
            return None
        run = replace(run, sentence=last[0], second=last[1])
    else:
        models.note_readable(texts)
    return hiding(run, places_in(chosen(MASKED)))


def tokens_read(run: ModelRun, of: About) -> None:
    """Draw the tokens that a model reads. In a model that fills in words, a click hides a word."""
    trace, model = run.trace(), run.reader
    sides = {"source": trace.source_tokens, "target-tokens": trace.target_tokens}
    for key, tokens in sides.items():
        if not tokens:
            continue
        masks = key == "source" and "mask words" not in model.missing
        who = "the decoder reads" if key != "source" and trace.source_tokens else "the model reads"
        hint = if_clicks(MASK_HINT) if masks else ""
        label = f"What {who}: {len(tokens)} tokens. {hint}".rstrip()
        strip = token_strip("", chips(tokens), label=label, clickable=masks)
        hide = partial(mask, as_pieces(tokens)) if masks else None
        show(strip, key, hide, of=of, what=f"Tokens that {who}")
        for note in notes(tokens):
            st.info(note)


def mask(tokens: Sequence[Piece]) -> None:
    """Hide the clicked word with all its pieces, or show it again; a callback."""
    for clicked in all_picked("source"):
        if clicked >= len(tokens) or tokens[clicked].is_special:
            continue  # a special token, or a click on an earlier text
        word = tokens[clicked].word
        places = {place for place, token in enumerate(tokens) if token.word == word}
        before = places_in(chosen(MASKED))
        after = before - places if places <= before else before | places
        put(MASKED, ",".join(map(str, sorted(after))))


def show_translation(run: ModelRun, of: About) -> None:
    """Draw the tokens that the encoder read, the translation, and notes on both.

    If the model is changed and translates differently, also draw the translation as trained.
    """
    model, translation = models.chosen(), written(run)
    read, made = translation.source_tokens, translation.target_tokens
    label = f"{model.source.capitalize()}, as the encoder reads it: {len(read)} tokens"
    show(token_strip("", chips(read), label=label), "source", of=of, what="Tokens read")
    target, trained = model.target.capitalize(), None
    label = f"{target}, as the decoder wrote it: {len(made)} tokens"
    if run.edits != Edits():
        plain = replace(run.as_trained, target="")
        trained, label = written(plain), f"{target}, {with_edits(run)}"
        say_outcome(plain, replace(run, target=""))
        if trained.text != translation.text:
            words = {"other": translation, "explained": False}
            show_writing(trained, "trained", f"{target}, as trained", of=of, **words)
    show_writing(translation, "target-tokens", label, of=of, other=trained)
    for note in notes(read, translation.finished or translation.stopped):
        st.info(note)
