"""The states in the residual stream: their lengths, the logit lens, and how alike words are."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor
from torch.nn import functional as F

from headlight.model.reader import Reader
from headlight.model.tokens import Token
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Block, ByShape, Run, Side
from headlight.model.translator import Translator

PARTS = {"self": "self-attention", "cross": "cross-attention", "feed_forward": "feed-forward"}
NO_STREAM = (
    "This trace has no residual stream of a decoder: pass reader.streamed(trace, {}) to lens(...)."
)


@dataclass(frozen=True, repr=False)
class LensTable(ByShape):
    """What the output layer predicts from the decoder's stream after each layer.

    The L rows are the embedding and the layers. At column t the decoder reads the target's token t
    and predicts the next one.
    """

    labels: tuple[str, ...]  # (L,)
    ids: Tensor  # (L, T, top): the most likely tokens, best first
    probabilities: Tensor  # (L, T, top)
    ranks: Tensor  # (L, T): the rank, from 1, of the token that the last row predicts

    @property
    def settled(self) -> Tensor:
        """The first row from which on all rows predict the last row's token, by column: (T,)."""
        others = self.ids[..., 0] != self.ids[-1, :, 0]  # (L, T)
        rows = torch.arange(1, len(others) + 1, device=others.device)
        return (others * rows[:, None]).amax(dim=0)


@torch.inference_mode()
def lens(reader: Reader, trace: Trace, top: int = 3) -> LensTable:
    """Return the logit lens: the decoder's last norm and output layer, applied after every layer.

    The last row has the logits of the trace. Earlier layers were not trained to be read in this
    way: a row only shows what the stream contains in the directions that the output layer reads.
    Raises ValueError if the trace has no residual stream of a decoder.
    Source: nostalgebraist 2020, "interpreting GPT: the logit lens".
    """
    layers = range(reader.shape.layers("decoder"))
    try:
        stream = [trace.embedding["decoder"].states] + [
            trace.residual[Block("decoder", layer, "feed_forward")].outputs for layer in layers[:-1]
        ]
    except KeyError:
        why_not = reader.missing.get("write") or reader.missing.get("show the stream", NO_STREAM)
        raise ValueError(why_not) from None
    answers = trace.logits[0].argmax(dim=-1)  # (T,)
    rows = []
    # layer by layer, so that the logits of only one layer are in memory
    for states in (*stream, None):
        logits = trace.logits[0] if states is None else reader.read_out(states)[0]  # (T, V)
        best = logits.softmax(dim=-1).topk(min(top, logits.size(-1)), dim=-1)
        of_answers = logits.gather(-1, answers[:, None])  # (T, 1)
        rows.append((best.indices, best.values, (logits > of_answers).sum(dim=-1) + 1))
    ids, probabilities, ranks = map(torch.stack, zip(*rows, strict=True))
    labels = ("embedding", *(f"layer {layer + 1}" for layer in layers))
    return LensTable(labels, ids, probabilities, ranks)


@torch.inference_mode()
def stream_norms(trace: Trace, side: Side) -> list[tuple[str, Tensor]]:
    """Return, for each block, its name and the lengths (T,) of the stream's vectors after it."""
    norms = [("embedding", trace.embedding[side].states[0].norm(dim=-1))]
    for block, record in trace.residual.items():  # the blocks in the order of computation
        if block.side == side:
            label = f"layer {block.layer + 1} {PARTS[block.part]}"
            norms.append((label, record.outputs[0].norm(dim=-1)))
    return norms


@dataclass(frozen=True)
class Similarity:
    """Cosine similarities, from -1 to 1, of W words with each other, before and after the encoder.

    The vector of a word with several tokens is the mean of their vectors.
    """

    words: tuple[str, ...]  # (W,), as typed; a word may be there twice
    tokens: tuple[tuple[Token, ...], ...]  # (W,), the tokens of each word
    embeddings: Tensor  # (W, W), similarities of the token embeddings, without positions
    outputs: Tensor  # (W, W), similarities of the encoder's outputs


@torch.inference_mode()
def word_similarity(translator: Translator, words: Sequence[str]) -> Similarity:
    """Return the similarities of words, each read by the encoder on its own.

    Upper and lower case differ: King is not king. Raises ValueError if there are no words, or if
    one is empty or has a part that the model has no token for.
    """
    if not words:
        raise ValueError("There is nothing to compare: type some words.")
    words = tuple(word.strip() for word in words)
    tokens, embeddings, outputs = [], [], []
    for word in words:
        if not word:
            raise ValueError("One of the words is empty: type it or remove it.")
        read = translator.read(word)
        before, after = both_vectors(translator, read)
        tokens.append(known(word, read[:-1]))
        embeddings.append(before[:-1].mean(dim=0))
        outputs.append(after[:-1].mean(dim=0))
    return similarity(words, tokens, embeddings, outputs)


@torch.inference_mode()
def in_sentence(translator: Translator, sentence: str) -> Similarity:
    """Return the similarities of a sentence's words, which the encoder reads together.

    Punctuation marks count as words. Raises ValueError if there is nothing to read, or if a word
    has a part that the model has no token for.
    """
    read = translator.read(sentence)
    before, after = both_vectors(translator, read)
    pieces = translator.tokenizer.backend.encode(sentence, add_special_tokens=False).word_ids
    words, tokens, embeddings, outputs = [], [], [], []
    for _, group in groupby(range(len(read) - 1), key=lambda position: pieces[position]):
        positions = list(group)
        word = sentence[read[positions[0]].start : read[positions[-1]].end].strip()
        words.append(word)
        tokens.append(known(word, [read[position] for position in positions]))
        embeddings.append(before[positions].mean(dim=0))
        outputs.append(after[positions].mean(dim=0))
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
