"""A decoder alone that learns to foretell what repeats itself, and how its heads do it."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from model.repetition import induction, previous_token
from model.sequences import no_source, pad, target_sequence
from model.tokens import PAD_ID, START_ID
from model.trace import AttentionEdit, Run, RunEdits, Site, Trace
from model.training.data import Batch
from model.training.small_models import SmallModel, TrainingOptions
from model.training.tasks import TASKS


@dataclass(frozen=True)
class Reading:
    """How a model reads the unseen sequences, each of them twice over.

    The loss is that of the second reading, in nats a token; the scores are (layers, H).
    """

    loss: float
    induction: Tensor
    previous: Tensor


@dataclass(frozen=True)
class Lesion:
    """How a model reads with all heads, and without the one that looks most at what came before."""

    site: Site
    head: int
    whole: Reading
    without: Reading


class Repeats(SmallModel):
    """A small decoder alone that reads sequences over and over, and what its attention did.

    The first reading cannot be foretold and is not asked for. Sequences are of different lengths,
    and the short ones come round more than twice: so neither a fixed distance nor the place of the
    one other letter of the same kind tells what comes next.
    """

    def collate(self, pairs: list[tuple[str, str]]) -> Batch:
        """Return a batch that reads each source over and over, as far as the longest one's two."""
        ids = self.tokenizer.backend.get_vocab()
        once = [[ids[letter] for letter in source] for source, _ in pairs]
        length = 2 * self.options.longest
        rows = [(row * length)[:length] for row in once]
        return Batch(
            source_ids=no_source(len(rows)),
            target_ids=pad([target_sequence(row[:-1]) for row in rows]),
            next_ids=pad(
                [
                    [*[PAD_ID] * len(first), *row[len(first) :]]
                    for first, row in zip(once, rows, strict=True)
                ],
            ),
        )

    def score(self) -> float:
        """Return the induction score of the head with the largest, on the unseen sequences."""
        return self.read().induction.max().item()

    @torch.inference_mode()
    def read(self, edits: RunEdits | None = None) -> Reading:
        """Return how the model reads the unseen sequences of the longest length."""
        self.model.eval()
        longest = max(len(source) for source, _ in self.unseen)
        texts = [target for source, target in self.unseen if len(source) == longest]
        ids = torch.tensor(self.tokenizer.encode_ids(texts))  # (B, 2 N)
        start = torch.full((len(ids), 1), START_ID)
        trace, weights = self.attention(torch.cat([start, ids], dim=1), edits)
        expected = trace.logits[:, :-1].log_softmax(dim=-1).gather(-1, ids[..., None])
        # The first token of the second reading comes when any other could.
        second = expected[:, longest + 1 :]
        return Reading(
            -second.mean().item(),
            torch.stack([induction(layer).mean(dim=0) for layer in weights]),
            torch.stack([previous_token(layer).mean(dim=0) for layer in weights]),
        )

    def attention(self, ids: Tensor, edits: RunEdits | None = None) -> tuple[Trace, list[Tensor]]:
        """Return a trace of ids, and its weights but for the start token, (B, H, T, T) a layer."""
        trace = Trace()
        self.model(no_source(len(ids)), ids, Run(edits or {}, trace))
        sites = [Site("decoder", layer) for layer in range(self.options.layers)]
        return trace, [trace.attention[site].weights[..., 1:, 1:] for site in sites]

    def lesion(self) -> Lesion:
        """Return how the model reads with its previous-token head, and with that switched off."""
        whole = self.read()
        layer, head = divmod(whole.previous.argmax().item(), self.options.heads)
        gate = torch.ones(self.options.heads)
        gate[head] = 0
        site = Site("decoder", layer)
        return Lesion(site, head, whole, self.read({site: AttentionEdit(gate=gate)}))

    @torch.inference_mode()
    def trace_example(self) -> Trace:
        """Record the decoder while it reads the example twice."""
        self.model.eval()
        tokens = self.tokenizer.encode(self.target)
        start = self.tokenizer.special_token(START_ID)
        trace, _ = self.attention(torch.tensor([[start.id, *(token.id for token in tokens)]]))
        trace.target_tokens = [start, *tokens]
        return trace


def small_model(options: TrainingOptions) -> SmallModel:
    """Return the model that learns a task: an encoder-decoder, or a decoder alone."""
    return (Repeats if TASKS[options.task].alone else SmallModel)(options)
