"""The sentences of the Training page."""

from pages.shared.state.catalog import ONE_SIDE

# The names of the two sides of each task on the other pages.
SIDES = {
    "reverse": ("number", "reversed number"),
    "copy": ("number", "copied number"),
    "sort": ("number", "sorted number"),
    "add": ("sum", "result"),
    "dates": ("date", "date in figures"),
    "repeat": (ONE_SIDE, ONE_SIDE),
}

INDUCTION = "Induction score"
REPEATED = "Loss from the second reading on, in nats a token"
LESION_LOSS = "Loss of the second reading, in nats a token"
LESION = (
    "The model reads letters twice that it was never trained on; whoever guesses among all letters "
    "has a loss of {guessing:.2f}. The "
    "induction score is the mean weight on the letter that followed the same letter before; the "
    "score of a previous-token head, the mean weight on the letter just before. The latter hands "
    "its letter on, and the induction head looks for its own letter in that. Switch the one off, "
    "and the other has nothing to find, though none of its own weights has changed. Of several "
    "heads a layer each takes a part, so that one alone is missed less."
)
ALONE = (
    "The loss is that of the batches trained on, from the second reading on: the first cannot be "
    "foretold. The induction score is that of the head with the largest, on sequences kept from "
    "training."
)

LABELS = {  # of the options
    "longest": "Most {length}",
    "shortest": "Fewest {length}",
    "layers": "Layers each",
    "heads": "Heads",
    "d_model": "Width d_model",
    "d_ff": "Width d_ff",
    "steps": "Steps",
    "batch_size": "Batch",
    "warmup": "Warm-up",
    "rate": "Rate factor",
    "label_smoothing": "Smoothing",
    "seed": "Seed",
    "positions": "Positions",
    "norm": "Layer norm",
}

HELP = {
    "longest": "The longest example; lengths are drawn at random.",
    "shortest": "The shortest example; lengths are drawn at random.",
    "layers": "Layers in the encoder and in the decoder.",
    "heads": "They share the width, which must be a multiple of their number.",
    "d_model": "How many numbers stand for a token between the layers.",
    "d_ff": "How many hidden units the feed-forward part of a layer has.",
    "steps": "How many batches it learns from. Every batch is new; no example is stored.",
    "batch_size": "How many examples go into one step.",
    "warmup": "The learning rate rises for this many steps, then falls with 1/√step.",
    "rate": "Multiplies the learning rate of the paper's schedule at every step.",
    "label_smoothing": "The share of the wanted answer that is spread evenly over all tokens.",
    "seed": "Decides the first weights and the examples; the same seed gives the same run.",
    "positions": "How a token knows its place. Without positions it reads a set of tokens.",
    "norm": "Before each part of a layer (pre) or after it (post, as in the paper).",
}

EXPERIMENTS = {  # what to change, and its likely effect
    "As recommended": {},
    "No warm-up": {"warmup": 1},
    "Rate factor 3": {"rate": 3.0},
    "Rate factor 0.05": {"rate": 0.05},
    "Smoothing 0.2": {"label_smoothing": 0.2},
    "No positions": {"positions": "none"},
}

INTRO = (
    "Choose a small task, press Start, and see a Transformer learn it from random numbers: its "
    "loss, how many examples it has never seen it writes without a mistake, and what its heads "
    "look at, as that forms."
)
EMPTY = "Nothing has been trained yet. Press Start: the recommended settings take about a minute."
GONE = (
    "The training of this slide is gone: it was of an earlier visit, or has made room for another."
)
PATTERN = (
    "At step 0 the weights are random and every head looks everywhere. All heads read the same "
    "example, which is none it is trained on, and the decoder reads the right answer."
)
CURVES = (
    "The loss is that of the batches trained on; each point is a mean since the point before. "
    "With label smoothing it cannot fall to 0, so compare the exact matches there."
)
TRY = "It is asked again at every update, so you can watch it get better at your own example."
USE = (
    "It stays yours, in this session only: no other visitor sees it. Choose it, or a shipped "
    "model, beside the sentence on the other pages."
)
UPLOAD = (
    "A zip of `weights.safetensors`, `config.json` and `tokenizer.json`, as the download "
    "of a trained model makes it. Nothing else is read, and nothing is kept on the server's disk."
)
COMPARE = "The curves of your last runs stay, so train twice to see what a setting does."
SCHEDULE = (
    "The paper's schedule: d_model^-0.5 · min(step^-0.5, step · warm-up^-1.5). A wider model "
    "takes smaller steps, and the highest rate is reached at the end of the warm-up. Without one, "
    "the first steps, whose gradients tell least, are the largest. The toys train with a straight "
    "line to zero over their second half, which settles what they learned."
)
SMOOTHING = (
    "Label smoothing asks for a little less than certainty: of the wanted answer, a share is "
    "spread evenly over all tokens. The loss is then least at a probability below 1, and "
    "rises again for a model that is surer than that."
)
