"""A decoder-only model that learns to predict repetitions, and measures of its heads."""

from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.roles import induction, previous_token
from headlight.model.tokens import PAD_ID, START_ID, no_source, pad, target_sequence
from headlight.model.trace import Trace
from headlight.model.training.data import Batch
from headlight.model.transformer.trace import Run, RunEdits, Site
from headlight.wings.training.small_models import SmallModel, TrainingOptions
from headlight.wings.training.tasks import TASKS


@dataclass(frozen=True)
class Reading:
    """How well a model predicts unseen sequences that it reads twice.

    `loss` is that of the second reading, in nats a token. `induction` and `previous` (layers, H)
    are each head's mean weight on the letter that followed the current letter's earlier copy, and
    on the letter just before the current one.
    """

    loss: float
    induction: Tensor
    previous: Tensor


@dataclass(frozen=True)
class Lesion:
    """How well a model predicts with all heads, and without its clearest previous-token head."""

    site: Site
    head: int
    whole: Reading
    without: Reading


class Repeats(SmallModel):
    """A small decoder-only model that reads each sequence several times, and its attention.

    The first reading cannot be predicted, and is not part of the loss. Sequences have different
    lengths, and short ones are read more than twice. So a head can find the next letter neither at
    a fixed distance, nor always after a single earlier copy of the last letter.
    """

    def collate(self, pairs: list[tuple[str, str]]) -> Batch:
        """Return a batch that repeats each source up to twice the length of the longest."""
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
        """Return the largest induction score of any head, on the unseen sequences."""
        return self.read().induction.max().item()

    @torch.inference_mode()
    def read(self, edits: RunEdits | None = None) -> Reading:
        """Return how well the model predicts the longest of the unseen sequences."""
        self.model.eval()
        longest = max(len(source) for source, _ in self.unseen)
        texts = [target for source, target in self.unseen if len(source) == longest]
        ids = torch.tensor(self.tokenizer.encode_ids(texts))  # (B, 2 N)
        start = torch.full((len(ids), 1), START_ID)
        trace, weights = self.attention(torch.cat([start, ids], dim=1), edits)
        expected = trace.logits[:, :-1].log_softmax(dim=-1).gather(-1, ids[..., None])
        # The first token of the second reading cannot be predicted.
        second = expected[:, longest + 1 :]
        return Reading(
            -second.mean().item(),
            torch.stack([induction(layer).mean(dim=0) for layer in weights]),
            torch.stack([previous_token(layer).mean(dim=0) for layer in weights]),
        )

    def attention(self, ids: Tensor, edits: RunEdits | None = None) -> tuple[Trace, list[Tensor]]:
        """Return a trace of ids, and each layer's weights without the start token: (B, H, T, T)."""
        trace = Trace()
        self.model(no_source(len(ids)), ids, Run(edits or {}, trace))
        sites = [Site("decoder", layer) for layer in range(self.options.layers)]
        return trace, [trace.attention[site].weights[..., 1:, 1:] for site in sites]

    def lesion(self) -> Lesion:
        """Return how well the model predicts with and without its previous-token head."""
        whole = self.read()
        layer, head = divmod(int(whole.previous.argmax()), self.options.heads)
        gate = torch.ones(self.options.heads)
        gate[head] = 0
        site = Site("decoder", layer)
        return Lesion(site, head, whole, self.read({site: AttentionEdit(gate=gate)}))

    @torch.inference_mode()
    def trace_example(self) -> Trace:
        """Trace the decoder while it reads the example twice."""
        self.model.eval()
        tokens = self.tokenizer.encode(self.target)
        start = self.tokenizer.special_token(START_ID)
        trace, _ = self.attention(torch.tensor([[start.id, *(token.id for token in tokens)]]))
        trace.target_tokens = [start, *tokens]
        return trace


def small_model(options: TrainingOptions) -> SmallModel:
    """Return the model that learns a task: an encoder-decoder, or only a decoder."""
    return (Repeats if TASKS[options.task].decoder_only else SmallModel)(options)
