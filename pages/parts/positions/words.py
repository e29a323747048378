"""The plain words of the Positions page."""

from model.trace import PositionEdit, Side
from pages.shared.state.catalog import CatalogEntry

FORMULA = (
    r"\begin{aligned}"
    r"\mathrm{PE}(p,\,2i) &= \sin\!\left(p\,/\,%(base)s^{\,2i/%(d_model)d}\right)\\"
    r"\mathrm{PE}(p,\,2i+1) &= \cos\!\left(p\,/\,%(base)s^{\,2i/%(d_model)d}\right)"
    r"\end{aligned}"
)

ROTATION = (
    r"\footnotesize\begin{pmatrix}\sin(p{+}k)\omega\\ \cos(p{+}k)\omega\end{pmatrix}\!=\!"
    r"\begin{pmatrix}\cos k\omega & \sin k\omega\\ -\sin k\omega & \cos k\omega"
    r"\end{pmatrix}\!\begin{pmatrix}\sin p\omega\\ \cos p\omega\end{pmatrix}"
)

SINUSOID_WORDS = {
    "formula": (
        "p is the position, counted from 0 as in the paper; on this page dimensions are too. "
        "i counts **pairs** of dimensions: pair i is the dimensions 2i and 2i + 1, the sine and "
        "the cosine of one and the same angle. Both have "
        "the exponent 2i / d_model, so a pair has one frequency. A common mistake is to put the "
        "number of each dimension into its own exponent: sine and cosine then turn at different "
        "speeds, and there is no rotation from one position to another any more."
    ),
    "curves": "Two dimensions of a pair have the same wavelength; one is a quarter of it ahead.",
    "table": (
        "A row is what is added to the token at that position. Early dimensions change from "
        "position to position; late ones hardly change over a whole sentence."
    ),
    "wavelengths": (
        "Pair 0 makes a full turn in 2π ≈ 6.28 positions. Each next pair is slower by the same "
        "factor, and the last one takes 2π · base^(1 − 2 / d_model) ≈ {longest:,.0f}."
    ),
    "dot products": (
        "The dot product of two positions depends on how far apart they are, and on nothing else: "
        "every diagonal has one colour. It is largest, d_model / 2, for a position with itself, "
        "and the same forwards and backwards: it knows the distance, not the direction."
    ),
    "error": (
        "The largest difference of any number of any position. It is the rounding of 32-bit "
        "numbers."
    ),
    "rotation": (
        "One matrix takes **every** position to the one k later, whatever p is: it turns pair i "
        "by kω with ω = 1 / base^(2i / d_model), and mixes no pair with another. A layer can learn "
        "such a matrix, and so look a fixed number of tokens back."
    ),
    "clocks": (
        "A pair as the hand of a clock, sine across and cosine up. As the position moves on, "
        "both hands turn, and the angle between them stays the same."
    ),
}

LEARNED_WORDS = {
    "what": (
        "A learned table starts as random numbers, one row a position, and training changes the "
        "rows that sentences reach. This one belongs to a small model trained here with "
        "d_model 128. The sinusoids beside it have the same width. Colours and axes are shared."
    ),
    "of BERT": (
        "A BERT that was loaded learned this table, one row a position. The sinusoids beside it "
        "have the same width. Colours and axes are shared."
    ),
    "to BERT": "BERT learns its positions too: load one, and its table can be chosen here",
    "unknown": "A checkpoint does not say how often each of its positions was trained.",
    "reached": (
        "How many of the {pairs:,} training pairs have a token at each position. No sentence goes "
        "beyond position {last}: from there on the rows are as random as they began."
    ),
    "norms": (
        "Every sinusoidal row has the length √(d_model / 2) = {length:.4g}. Learned rows begin "
        "short, and grow where there is something to learn."
    ),
    "by offset": (
        "Dot products by distance: the line is the mean over all pairs of positions so far apart, "
        "the band goes from the least to the largest. The sinusoid has no band: distance is all "
        "that matters. In a learned table it also matters where the two positions are."
    ),
    "pairs": (
        "In a learned table no dimensions belong together as pairs: that is a property of the "
        "sinusoids' formula."
    ),
}

SENTENCE_WORDS = {
    "modes": (
        "Encoder and decoder add positions to their own tokens. Shuffled: the words keep their "
        "order and get each other's positions; `<start>` and `<end>` keep theirs. Shifted: every "
        "position is k more. Off: nothing is added."
    ),
    "same target": (
        "The decoder reads the translation as trained in both, so that the maps can be compared."
    ),
    "shuffle": (
        "Here the words themselves change places, and `<end>` stays last. Without positions, "
        "attention has no notion of order: each token gets the very output it had before, at its "
        "new place, but for rounding. With positions it gets another one."
    ),
    "one word": "One word has no other order. Type a longer sentence.",
}

TOKEN_WORDS = (
    "The encoder's or decoder's first layer reads the last strip, and nothing else: the token's "
    "embedding, times √d_model = {scale:.4g}, plus its position. All strips share one scale of "
    "colours. Positions count from 0. Without the factor the embedding would be much shorter than "
    "the position."
)

BEYOND_WORDS = {
    "formula": (
        "The sinusoid is a formula, and has a value at every position. The learned table has 256 "
        "rows, 0 to 255, and nothing after them."
    ),
    "shift": (
        "Moving all tokens k positions on leaves their distances as they were. How likely does a "
        "model find its own translation then? The line of the learned table ends where the table "
        "ends."
    ),
    "honest": (
        "Having a value is not the same as knowing what to do with it. In training, the shipped "
        "model read English up to position {encoder[0]} and French up to {decoder[0]}, and fewer "
        "than one sentence in a thousand went beyond {encoder[1]} and {decoder[1]}. Farther out "
        "it has learned nothing."
    ),
}


def side_words(model: CatalogEntry) -> dict[Side, str]:
    return {"encoder": f"{model.source}, encoder", "decoder": f"{model.target}, decoder"}


def edit_words(edit: PositionEdit) -> str:
    """Return a change of positions in words."""
    if edit.off:
        return "off"
    order = " ".join(map(str, edit.order))
    return f"shuffled to {order}" if order else f"shifted by {edit.shift}"
