"""Similarity of words in the model: of their token embeddings, and of the encoder's outputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor
from torch.nn import functional as F

from model.tokens import Token
from model.trace import Run, Trace
from model.translator import Translator


@dataclass(frozen=True)
class Similarity:
    """Cosine similarities of W words with each other, before and after context, from -1 to 1.

    A word of several tokens is the mean of their vectors.
    """

    words: tuple[str, ...]  # (W,), as typed; a word may come twice
    tokens: tuple[tuple[Token, ...], ...]  # (W,), the tokens of each word
    embeddings: Tensor  # (W, W), of the token embeddings, without positions
    outputs: Tensor  # (W, W), of the encoder's outputs


@torch.inference_mode()
def word_similarity(translator: Translator, words: Sequence[str]) -> Similarity:
    """Return the similarities of words that the encoder reads one by one.

    Words count as typed: King is not king. Raises ValueError if there are no words, or if
    one is empty or has a piece that the model has no token for.
    """
    if not words:
        raise ValueError("There is nothing to compare: type some words.")
    words = tuple(word.strip() for word in words)
    tokens, embeddings, outputs = [], [], []
    for word in words:
        if not word:
            raise ValueError("One of the words is empty: type it or take it out.")
        read = translator.read(word)
        before, after = both_vectors(translator, read)
        tokens.append(known(word, read[:-1]))
        embeddings.append(before[:-1].mean(dim=0))
        outputs.append(after[:-1].mean(dim=0))
    return similarity(words, tokens, embeddings, outputs)


@torch.inference_mode()
def in_sentence(translator: Translator, sentence: str) -> Similarity:
    """Return the similarities of a sentence's words, which the encoder reads together.

    Punctuation counts as words. Raises ValueError if the sentence has nothing to read, or if one of
    its words has a piece that the model has no token for.
    """
    read = translator.read(sentence)
    before, after = both_vectors(translator, read)
    pieces = translator.tokenizer.backend.encode(sentence, add_special_tokens=False).word_ids
    words, tokens, embeddings, outputs = [], [], [], []
    for _, group in groupby(range(len(read) - 1), key=lambda place: pieces[place]):
        places = list(group)
        word = sentence[read[places[0]].start : read[places[-1]].end].strip()
        words.append(word)
        tokens.append(known(word, [read[place] for place in places]))
        embeddings.append(before[places].mean(dim=0))
        outputs.append(after[places].mean(dim=0))
    return similarity(words, tokens, embeddings, outputs)


def known(word: str, tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Return a word's tokens; raises ValueError if one of them is unknown."""
    if any(token.is_unknown for token in tokens):
        raise ValueError(f"The model has no token for all of “{word}”: choose another word.")
    return tuple(tokens)


def both_vectors(translator: Translator, tokens: list[Token]) -> tuple[Tensor, Tensor]:
    """Return embeddings and encoder outputs of tokens that are read together: (T, d_model) each."""
    trace = Trace(tokens)
    translator.model.encode(translator.ids(tokens), Run(trace=trace))
    return trace.embedding["encoder"].tokens[0], trace.outputs["encoder"][0]


def similarity(
    words: Sequence[str],
    tokens: Sequence[tuple[Token, ...]],
    embeddings: Sequence[Tensor],
    outputs: Sequence[Tensor],
) -> Similarity:
    """Return the similarities of words with these vectors, each (d_model,)."""
    return Similarity(tuple(words), tuple(tokens), cosines(embeddings), cosines(outputs))


def cosines(vectors: Sequence[Tensor]) -> Tensor:
    """Return the cosine of the angle between every two of W vectors: (W, W)."""
    directions = F.normalize(torch.stack(list(vectors)), dim=-1)
    return (directions @ directions.T).clamp(-1, 1)
