"""The plain words of the Decoding page."""

from model import Writing
from model.decoding.steps import Node

DECODING_WORDS = {
    "player": (
        "All steps were computed once, and stepping runs no model. The weights are those of the "
        "very step, for the head chosen above. A row of the alignment names the token that was "
        "read and the one that was written from it; click a row to go to its step. Click a weight "
        "to see how it comes about."
    ),
    "tree": (
        "Each column is a step, best text first. Solid texts were kept, rounded ones have ended, "
        "and dashed ones are the best of those dropped. The beam stays as wide until no text that "
        "goes on can score better than one that has ended. The thick path led to the text that was "
        "returned. Point at a text to read it with its log-probability; click it to see its steps "
        "above."
    ),
    "other tokens": (
        "Read as a text, what was written here is cut into other tokens, so its weights cannot be "
        "taken apart."
    ),
    "what if": (
        "Click a candidate above, or type a text there, and decoding goes on from it as a branch "
        "that stands here beside the free run."
    ),
    "branches": "What differs from the free run is framed.",
    "teacher forcing": (
        "In training the decoder reads the reference shifted right by one, whatever it would have "
        "written itself, and so all positions are computed in one pass. Each arrow leads from a "
        "token to where it is read. In the free run it reads its own tokens, one after the other."
    ),
}


def stopped(writing: Writing) -> str:
    """Return the length of a text and why it stopped, in words."""
    at = "the end token" if writing.finished else "the limit"
    return f"{len(writing.target_tokens)} tokens, stopped at {at}"


def ending(last: Node, steps: int) -> str:
    """Return why a text has no steps after its last node, in words."""
    if last.ended:
        return "The end token: it stops here."
    return f"Stopped at the limit of {steps} tokens." if last.kept else "Dropped here."
