"""The captions and notes next to the pictures of several pages."""

from collections.abc import Sequence

import numpy as np

from headlight.model.tokens import Token
from headlight.model.transformer.trace import Kind
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.state.choices import HeadChoice
from headlight.pages.shared.state.models import ONE_SIDE
from headlight.viz.numbers import number_text

HOW_TO_READ = {
    "heatmap": (
        "Each row is a token that looks (its query), each column a token it may look at "
        "(its [key]). The brighter a cell, the more of that token's [value] is taken. "
        "Point at a cell, or tap it, to read its [weight]{click}."
    ),
    "clickable": "; click it, or tap it again, to see how the weight comes about",
    "lines": (
        "A line joins a token that looks, on the left, to a token it looks at, on the right; a "
        "thicker line is a larger [weight]. Point at a token, or tap it, to see only its "
        "lines and their weights{click}."
    ),
    "text": (
        "The stronger a token's shade, the larger its [weight]; the largest one shown has the full "
        "shade. Point at a token, or tap it, to shade those that it looks at, or those that look "
        "at it{click}."
    ),
    "grid": (
        "Every small map is one [head]: rows look, columns are looked at, dark is 0 and bright is "
        "{bright}. "
        "On a bright diagonal tokens look at themselves, on a line next to it at a neighbour; a "
        "bright column is a token that all tokens look at."
    ),
    "kept lines": "; click the token to keep them",
    "kept text": "; click the token to keep these shades and to read single weights",
    "groups": " Heads under one line share their [keys] and [values]; each has its own queries.",
}

KIND_WORDS: dict[Kind, str] = {
    "encoder": (
        "Encoder self-attention: each {source}token looks at all {source}tokens: itself and "
        "those to its left and right."
    ),
    "decoder": (
        "Masked self-attention: each {target}token looks at itself and at earlier {target}"
        "tokens. Later tokens are blocked, because they do not exist yet when the decoder writes."
    ),
    "cross": (
        "Cross-attention: the queries come from the {target}side, the keys and values from the "
        "encoder's {source}side."
    ),
}

MASKED_WORDS: dict[Kind, str] = {  # for a mask that is not the usual one of this kind of attention
    **KIND_WORDS,
    "encoder": (
        "Encoder self-attention: each {source}token looks at the {source}tokens that its mask "
        "leaves open."
    ),
    "decoder": (
        "Masked self-attention: each {target}token looks at the {target}tokens that its mask "
        "leaves open."
    ),
}

ROW_WORDS = {  # what the label of a decoder's row means
    "read": (
        " A row is labelled with the token the decoder has just read; its output chooses the next "
        "token."
    ),
    "writes": " Each row names the token the decoder has just read → the token it writes next.",
    "made to write": (
        " Each row names the token the decoder has just read → the next token of the given text, "
        "which it is made to write."
    ),
}

SUMMARY_WORDS: dict[HeadChoice, str] = {
    "mean": " Shown: the mean of the layer's heads.",
    "max": " Shown: the largest weight of the layer's heads, cell by cell.",
}


def formula(kind: Kind, head_width: int, source: str, target: str, *, usual: bool = True) -> str:
    """Return the formula of a head's weights in LaTeX.

    `source` and `target` are names, such as English and French. If the mask is the `usual` one for
    this kind of attention, the formula has its numbers, else the word “mask”.
    """
    query = source if kind == "encoder" else target
    key = target if kind == "decoder" else source
    mask = r"+ \text{mask}"
    if usual:
        cases = r"0 & \text{earlier or same}\\-\infty & \text{later}"
        mask = rf"+ \begin{{cases}}{cases}\end{{cases}}" if kind == "decoder" else ""
    return (
        rf"\text{{weights}} = \mathrm{{softmax}}\!\left(\frac{{Q_\text{{{query}}}\,"
        rf"K_\text{{{key}}}^{{\top}}}}{{\sqrt{{{head_width}}}}}"
        rf"{mask}\right)"
    )


def reading_of(
    kind: Kind,
    head: HeadChoice,
    weights: np.ndarray,
    *,
    source: str,
    target: str,
    row: str,
    usual: bool = True,
) -> str:
    """Return the words below a drawing of a head's weights (Q, K), which explain how to read it.

    `source` and `target` are names of what is read, such as English and French. `row` is the key in
    `ROW_WORDS` of the words on a decoder's rows. `usual` is true if the mask is the usual one for
    this kind of attention.
    """
    words = (
        (KIND_WORDS if usual else MASKED_WORDS)[kind]
        + SUMMARY_WORDS.get(head, "")
        + sums_of(weights)
    )
    if kind != "encoder":
        words += ROW_WORDS[row]
    named = {"source": source, "target": target}
    return words.format(
        **{side: "" if name == ONE_SIDE else f"{name} " for side, name in named.items()}
    )


def sums_of(weights: np.ndarray) -> str:
    """Return a sentence on what the rows of weights (Q, K) sum to.

    A row of a head sums to 1, or to less if keys are not drawn or a sink takes a share. A row of
    maxima over several heads or layers sums to more.
    """
    sums = weights.sum(axis=-1)
    if np.allclose(sums, 1, atol=1e-3):
        return " Every row sums to 1."
    least, most = (number_text(float(end), decimals=2) for end in (sums.min(), sums.max()))
    return f" The rows sum to {least}." if least == most else f" The rows sum to {least} to {most}."


def notes(tokens: Sequence[Token], finished: bool = True, *, drawn: bool = True) -> list[str]:
    """Return notes for the visitor on unknown tokens, and on an output that was cut off.

    `drawn` is true if the page draws the tokens; the note then says that unknown ones are framed.
    """
    sentences = []
    unknown = [token.text for token in tokens if token.is_unknown]
    if unknown:
        framed = ", framed in dashes" if drawn else ""
        sentences.append(
            f"The model does not know {len(unknown)} of the tokens{framed}: it reads "
            "each of them as “unknown”, and may go wrong there."
        )
    spelled = {(token.start, token.end) for token in tokens if token.is_byte}
    if spelled:
        byte = next(token.text for token in tokens if token.is_byte)
        characters = "character has" if len(spelled) == 1 else "characters have"
        sentences.append(
            f"{len(spelled)} {characters} no piece in the vocabulary: the model reads "
            f"{'its' if len(spelled) == 1 else 'their'} bytes instead, such as {byte}, and may go "
            "wrong there."
        )
    if not finished:
        sentences.append("The output was cut off at its longest length, before the model ended it.")
    return sentences


def where_cut(run: ModelRun) -> list[str]:
    """Return a note, as a list, if the text is longer than the model can read; else no note."""
    if not run.is_cut:
        return []
    trace = run.trace()
    tokens = trace.source_tokens or trace.target_tokens
    count = sum(not token.is_special for token in tokens)
    return [
        f"The sentence is longer than the model can take: it read the first {count} tokens, and "
        "nothing after them."
    ]


def capital(words: str) -> str:
    return words[0].upper() + words[1:]
