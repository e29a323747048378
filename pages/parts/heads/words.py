"""The captions of the page Heads."""

HEAD_WORDS = {
    "board": (
        "Click a [head] to switch it off or on; L1, a number or a heading switches all its heads. "
        "The slider fades the framed head."
    ),
    "closed board": "With this link, you cannot switch [heads] off or on.",
    "badges": (
        "A badge describes what the [head] does on this sentence, not what the head is: on another "
        "sentence it may do something else. A head has a badge where:"
    ),
    "no badge": "No badge: this head follows none of the patterns below on this sentence.",
    "usually": (
        "Usually: the mean over {text}, ± how far single sentences are from it (the standard "
        "deviation), with the model as trained"
    ),
    "open": " Click a cell to open its head.",
    "effects": (
        "The [heads] are removed one at a time, and {measure} is measured again. Blue: it is lower "
        "without the head, so the head raised it. Red: it is higher. Your own changes stay in "
        "force meanwhile. The unit is {unit}.{click}"
    ),
}
