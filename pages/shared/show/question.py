"""Read a question that a lecturer types, with its answers one a line."""

from collections.abc import Sequence

ANSWERS = (2, 4)  # the least and most answers to a question
LONGEST = 200  # the most characters of a question or of an answer
LONGEST_TEXT = 1_000  # the most characters of a question with all of its answers
NEEDED = (
    f"A question and {ANSWERS[0]} to {ANSWERS[1]} different answers are needed, one a line, each "
    f"of at most {LONGEST} characters."
)


def lines_of(text: str) -> tuple[str, ...]:
    """Return the lines of a text that are not empty: of a question, it and then its answers."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def check_question(asks: str, answers: Sequence[str]) -> None:
    """Raise ValueError, with a sentence on what is needed, if this cannot be asked."""
    fewest, most = ANSWERS
    texts = (asks, *answers)
    is_whole = fewest <= len(set(answers)) == len(answers) <= most and all(texts)
    if not is_whole or max(map(len, texts)) > LONGEST:
        raise ValueError(NEEDED)
