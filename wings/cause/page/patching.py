"""How much of the difference between two texts each head brings from one run to the other."""

from functools import partial

import numpy as np
import streamlit as st

from headlight.model.edits import HeadAddress
from headlight.model.transformer.trace import Site
from headlight.pages.shared.controls.measure import Measurement, flat, selected_among, show_heads
from headlight.pages.shared.controls.sentence import can
from headlight.pages.shared.runs.arrays import heads_of
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.show.captions import caption, site_words
from headlight.pages.shared.show.pictures import show
from headlight.pages.shared.show.riddle import Riddle, which_head
from headlight.pages.shared.show.saving import About, about_run
from headlight.pages.shared.show.sight import reveal_if_sought
from headlight.pages.shared.state.choice import one_of
from headlight.pages.shared.state.choices import KINDS
from headlight.pages.shared.state.wings import if_clicks
from headlight.pages.shared.widgets.choose import choose
from headlight.viz import CanvasPicture, head_effects, sum_bars
from headlight.viz.numbers import DECIMALS, number_text
from headlight.viz.tokens import and_written
from headlight.wings.cause.calls import Patched, Shares, TwoTexts, patched, patched_tokens
from headlight.wings.cause.page import two_texts
from headlight.wings.cause.page.two_texts import choose_compared
from headlight.wings.cause.patching import AnswerPair, Part

TITLE = "Patching between two texts"
WHAT = {"patch-heads": "What each head brings", "patch-tokens": "What a head brings at each token"}
PICTURES = {key: words[0].lower() + words[1:] for key, words in WHAT.items()}
DETAIL = "patch-detail"  # the key of the part that shows the selected head
UNASKED = 4_000  # up to this many tokens, in all runs together, measuring needs no button
PATCHED = Measurement(
    patched, (*WHAT,), "Patch every head", "Patching one layer after the other", UNASKED
)
UNIT = "% of the gap"
ENDS = ("away from it", "towards the run it comes from")
DIRECTIONS = (
    "Clean into changed finds heads that are sufficient to restore the answer; changed into "
    "clean, heads that are necessary. They can differ."
)
PART = one_of(
    "patch_part",
    {"heads": "Its output", "weights": "Only where it looks", "value": "Only what it carries"},
    label="What of a head is put in",
)
WAY = one_of(
    "patch_way",
    {"back": "Clean into changed", "away": "Changed into clean"},
    label="Direction",
    help=DIRECTIONS,
)
CHOICES = (*two_texts.CHOICES, PART, WAY)
PARTS = {"heads": "outputs", "weights": "weights", "value": "values"}

Request = tuple[ModelRun, str, AnswerPair, Part, bool]  # the arguments of `patched`

INTRO = (
    "Two texts are read that differ in a word, and the decoder reads the written tokens of the "
    "clean text after both. What is measured is how far the clean text’s answer is ahead of the "
    "other, in logits."
)
SHARE = (
    "One head at a time in the {into} text’s run gets its {parts} from the {giving} text’s run; "
    "everything after it is computed again. Its share of the gap is (patched − {into}) / "
    "({giving} − {into}). Shares need not add up: heads build on each other.{click}"
)
TOKENS = {
    "heads": "Each row puts in the head’s output at one token only, the query.",
    "weights": "Each row puts in the weights of one token only, the query.",
    "value": "Each row puts in the value of one token only, the key.",
}
CHECKS = (
    "Two checks: a run’s own outputs change nothing, and the outputs of all heads at once bring "
    "the whole gap. The second fails if the texts differ in the last token, because no head "
    "outputs its embedding."
)


def draw(run: ModelRun) -> None:
    """Draw the choice of two texts and two answers, and how much each head brings."""
    if not (can(run, "write") and can(run, "take apart")):
        return
    caption(INTRO)
    compared = choose_compared(run)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        part, backwards = choose(PART), choose(WAY) == "away"
    if not compared:
        return
    giving, into = ("changed", "clean") if backwards else ("clean", "changed")
    request = (run, compared.changed, compared.answers, part, backwards)
    left, right = st.columns([2, 3], gap="medium")
    with right:
        click = if_clicks(" Click one to see its tokens.")
        caption(SHARE.format(parts=PARTS[part], giving=giving, into=into, click=click))
        try:
            result = measured(request, compared.texts)
        except ValueError as error:
            st.text(str(error))
            return
    if not result:
        return
    words = " against ".join(f"“{word}”" for word in compared.words)
    where = f"Changed text: {compared.changed}; {words}; {PARTS[part]} of the {giving} run"
    of = about_run(run, place=where)
    selected = selected_among(heads_of(result.shares), flat(result.shares))
    with left:
        st.text(f"Logit of “{compared.words[0]}” minus that of “{compared.words[1]}”")
        checks(result, part, backwards)
    what = WHAT["patch-heads"]
    with right:
        options = {"riddle": partial(brings_most, result.shares), "riddle_of": ("patch-tokens",)}
        picture = map_of(result.shares, selected)
        if not show_heads(picture, "patch-heads", DETAIL, of=of, what=what, **options):
            return
    with st.container(key=DETAIL):
        tokens_of_head(request, compared.texts, result, selected, of)


def measured(request: Request, texts: TwoTexts) -> Patched | None:
    """Return how much each head brings; None if the measurement is long and not started yet.

    Raises ValueError if the runs do not differ.
    """
    run, _, answers, *_ = request
    heads = sum(layers * heads for layers, heads in run.reader.shape.kinds.values())
    tokens = len(texts.clean.source_tokens) + answers.row + 1
    if not PATCHED.is_asked(*request, runs=heads, tokens=tokens):
        return None
    return PATCHED.measure(*request, draw=map_of)


def brings_most(shares: Shares) -> Riddle:
    """Return the question: which head brings most of the gap?"""
    asks = "Which single head brings most of the way from one text’s answer to the other’s?"
    in_words = partial(number_text, signed=True)
    return which_head(
        asks,
        "most is brought by",
        {kind: in_percent(those) for kind, those in shares.items()},
        lambda share: f"{in_words(share)} {UNIT}",
    )


def in_percent(shares: np.ndarray) -> np.ndarray:
    """Return shares in percent, rounded so that noise in the last digits is gone."""
    return np.round(100 * shares, DECIMALS)


def map_of(shares: Shares, head: HeadAddress | None = None) -> CanvasPicture:
    """Return the map of how much each head brings; `head` is marked."""
    return head_effects(
        {kind: in_percent(those) for kind, those in shares.items()},
        labels=KINDS,
        selected=head,
        measure=UNIT,
        ends=ENDS,
    )


def in_nats(number: float) -> str:
    return f"{number_text(number, signed=True)} nats"


def checks(result: Patched, part: Part, backwards: bool) -> None:
    """Draw how far apart the two runs are, and the results of two checks."""
    into, giving = ("clean", "changed") if backwards else ("changed", "clean")
    differences = {into: result.before, giving: result.aim}
    first, second = st.columns(2)
    first.metric("After the clean text", in_nats(differences["clean"]))
    second.metric("After the changed text", in_nats(differences["changed"]))
    label = f"Change when the {into} run gets its own {PARTS[part]}"
    st.metric(label, f"{number_text(result.itself)} nats")
    st.metric("Outputs of all heads at once", f"{number_text(100 * result.outputs, 1)} {UNIT}")
    if part != "heads":
        label = f"{PARTS[part].capitalize()} of all heads at once"
        st.metric(label, f"{number_text(100 * result.parts, 1)} {UNIT}")
    caption(CHECKS)


def tokens_of_head(
    request: Request, texts: TwoTexts, result: Patched, address: HeadAddress, of: About
) -> None:
    """Draw how much a head brings at each single one of its tokens."""
    kind, layer, head = address
    site, part = Site(kind, layer), request[3]
    shares, whole = patched_tokens(*request, site, head), result.shares[kind][layer, head]
    reveal_if_sought(DETAIL)
    words = site_words(*address)
    st.subheader(words)
    caption(TOKENS[part])
    picture = sum_bars(
        in_percent(shares),
        names_of(texts, site, part)[: len(shares)],
        ends=(ENDS[1], ENDS[0]),
        total="At all tokens at once",
        unit=UNIT,
        whole=float(in_percent(whole)),
    )
    show(picture, "patch-tokens", of=of, what=f"{WHAT['patch-tokens']}: {words}")


def names_of(texts: TwoTexts, site: Site, part: Part) -> list[str]:
    """Return the labels, from both texts, of the tokens at which a head can be patched.

    The label of a decoder's query includes what was written after it.
    """
    clean, changed = (
        trace.key_tokens(site) if part == "value" else trace.query_tokens(site)
        for trace in (texts.clean, texts.changed)
    )
    read = [
        first.text if first.id == second.id else f"{first.text} / {second.text}"
        for first, second in zip(clean, changed, strict=True)
    ]
    if part != "value" and site.kind != "encoder":
        after = dict(zip(texts.written.rows, texts.written.texts, strict=True))
        read = and_written(read, [after.get(row, "") for row in range(len(read))])
    return [f"{number}: {name}" for number, name in enumerate(read, start=1)]
