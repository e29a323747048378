"""The texts on the page Positions."""

from headlight.model.edits.positions import PositionEdit

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

ROTARY_FORMULA = (
    r"\begin{pmatrix}x'\\ y'\end{pmatrix}=\begin{pmatrix}\cos p\,\omega_i & -\sin p\,\omega_i\\ "
    r"\sin p\,\omega_i & \cos p\,\omega_i\end{pmatrix}\begin{pmatrix}x\\ y\end{pmatrix}"
)

ROTARY_WORDS = {
    "added": (
        "This model adds its positions to the tokens and does not turn its queries and keys. One "
        "that turns them is Qwen/Qwen3-0.6B."
    ),
    "none": (
        "This model does not turn its queries and keys by their positions, or does so in a way "
        "that is not known here. One that does is Qwen/Qwen3-0.6B."
    ),
    "not this layer": "This layer does not turn its queries and keys. Choose another layer.",
    "pairs": (
        "Nothing is added to the tokens. In each query and [key], {turned} of a head’s {width} "
        "dimensions are turned in pairs. Pair i is the dimensions {pair}; it is turned by p · ω, "
        "the position times the frequency of the pair. Without scaling, ω = base^(−2i / {turned}); "
        "the configuration calls the base rope_theta, and says:"
    ),
    "length": "Its scaling also makes turned queries and keys {length:.3f} times as long.",
    "turned": (
        "Turning changes no length. The [score] sums up the products of the turned query and key. "
        "Positions count from 0."
    ),
    "clocks": (
        "Each clock is a pair, with a hand for the query and a hand for the key. When both tokens "
        "move on by one position, both hands turn by the same angle. The angle between them stays "
        "the same, and so does the score: shifting all positions changes nothing."
    ),
    "distance": (
        "The same queries and keys at other distances, without the effect of other layers: q·k "
        "times the scale, before a mask. Fast pairs distinguish short distances, slow "
        "pairs long ones."
    ),
}

SINUSOID_WORDS = {
    "formula": (
        "p is the position; positions and dimensions count from 0 on this page, as in the paper. i "
        "counts **pairs** of dimensions: pair i is the dimensions 2i and 2i + 1, the sine and the "
        "cosine of the same angle. It is a common mistake to give each dimension an exponent of "
        "its own: then no rotation leads from one position to another."
    ),
    "curves": "Two dimensions of a pair have the same wavelength; one is a quarter of it ahead.",
    "table": "Each row is the vector that is added to the token at that position.",
    "wavelengths": (
        "Pair 0 makes a full turn in 2π ≈ 6.28 positions. Each next pair is slower by the same "
        "factor, and the last one takes 2π · base^(1 − 2 / d_model) ≈ {longest:,.0f}."
    ),
    "dot products": (
        "The dot product of two positions depends only on how far apart they are. It is largest, "
        "d_model / 2, for a position with itself, and the same in both directions."
    ),
    "error": (
        "The largest difference between a rotated row and the row k later, over all positions and "
        "dimensions. It comes only from the rounding of 32-bit numbers."
    ),
    "rotation": (
        "One matrix takes **every** position to the one k later: it turns pair i by kω with ω = 1 "
        "/ base^(2i / d_model). A layer can learn such a matrix, and so look a fixed number of "
        "tokens back."
    ),
    "clocks": (
        "Each clock is a pair, sine across and cosine up, with a hand for a position and a hand "
        "for the one k later. As the position moves on, both hands turn, and the angle between "
        "them stays the same."
    ),
}

LEARNED_WORDS = {
    "another": ("No learned table of the open model is known. These are other models' tables."),
    "what": (
        "A learned table starts as random numbers, one row per position, and training changes the "
        "rows that sentences reach. This one belongs to the small shipped model, with d_model "
        "128; the sinusoids have the same width, colours and axes."
    ),
    "of a library": (
        "This model learned its table, one row per position. The sinusoids have the same width, "
        "colours and axes."
    ),
    "to others": "Load a BERT or a GPT-2 to see its learned table",
    "unknown": "A checkpoint does not say how often each of its positions was trained.",
    "reached": (
        "How many of the {pairs:,} training pairs have a token at each position. No sentence goes "
        "beyond position {last}: from there on the rows are as random as they began."
    ),
    "norms": (
        "Every sinusoidal row has the length √(d_model / 2) = {length:.4g}. Learned rows begin "
        "short, and grow where training reaches them."
    ),
    "by offset": (
        "Dot products by distance: the line is the mean over all pairs of positions at that "
        "distance, and the band reaches from the smallest to the largest. The sinusoid has no "
        "band: all its pairs at one distance have the same product."
    ),
    "pairs": "The dimensions of a learned table do not form pairs.",
}

SENTENCE_WORDS = {
    "modes": (
        "Shuffled: the tokens keep their order and get each other's positions, except the start "
        "and the end token. Shifted: k is added to every position. Off: no token has a position."
    ),
    "same target": (
        "In both runs the decoder reads the translation as trained, so that the maps can be "
        "compared."
    ),
    "shuffle": (
        "Here the words themselves change places, and `<end>` stays last. Without positions each "
        "token gets the same output as before, except for rounding; with positions it gets another "
        "one. Places count from 0."
    ),
    "no encoder": "Words are shuffled only for models that have an encoder and a decoder.",
    "one word": "One word has no other order. Type a longer sentence.",
}

MOVED_WORDS = {
    "most": "This head changes most: {share} of its attention moves to other tokens, on average.",
    "less": (
        "{share} of this head’s attention moves to other tokens, on average. {head} changes most: "
        "{largest}."
    ),
    "little": (
        "This head depends little on positions: only {share} of its attention moves to other "
        "tokens, on average. {head} changes most: {largest}."
    ),
}

TOKEN_WORDS = {
    "sum": "The first layer reads only the last strip. Positions and tokens count from 0 here.",
    "none": (
        "No table of positions that are added to the tokens was found in this model. Some models "
        "add them in a way that is not known here. Some, such as Llama, turn queries and keys "
        "instead (see Rotary); some, such as T5, add a number to each score by the distance."
    ),
}

BEYOND_WORDS = {
    "formula": (
        "The sinusoid is a formula, and goes on at every position. The learned table has 256 "
        "rows, 0 to 255, and nothing after them."
    ),
    "shift": (
        "Shifting all tokens by k positions keeps their distances. How likely does the model find "
        "its text then? With rotary positions nothing changes; the line of a learned table ends "
        "where the table ends."
    ),
    "honest": (
        "Having a value is not the same as knowing what to do with it. In training, the shipped "
        "model read English up to position {encoder[0]} and French up to {decoder[0]}, and fewer "
        "than one sentence in a thousand went beyond {encoder[1]} and {decoder[1]}."
    ),
}


def edit_words(edit: PositionEdit, briefly: bool = False) -> str:
    """Return a change of positions in words, such as “shifted by 3”.

    If `briefly` is true, the new order of shuffled positions is left out.
    """
    if edit.off:
        return "off"
    if not edit.order:
        return f"shifted by {edit.shift}"
    return "shuffled" if briefly else f"shuffled to {' '.join(map(str, edit.order))}"
