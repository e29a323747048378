"""python -m bench.toys: a training step of each small model against torch.nn.Transformer's.

Both sides have the same size, batches, optimizer and schedule, and run on one thread as in the app.
Our step is that of `python -m headlight.model.train`; its attention computes scores, weights and
outputs one after the other. The peer uses torch's own fused attention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bench.report import compare_times, json_option, report
from headlight.model.training.data import Batch
from headlight.model.training.step import Settings, learning_rate, make_optimizers
from headlight.model.transformer.config import TransformerConfig
from headlight.model.transformer.positions import sinusoids
from headlight.wings.training.small_models import SmallModel, default_options
from headlight.wings.training.tasks import TASKS

ROUNDS = 60


class Peer(nn.Module):
    """torch's Transformer with embeddings, sinusoids and a tied output layer."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.tokens = nn.Embedding(config.source_vocab_size, config.d_model)
        nn.init.normal_(self.tokens.weight, std=config.d_model**-0.5)
        self.table: Tensor
        self.register_buffer("table", sinusoids(config.max_positions, config.d_model))
        self.transformer = nn.Transformer(
            config.d_model,
            config.heads,
            config.encoder_layers,
            config.decoder_layers,
            config.d_ff,
            dropout=0.0,
            batch_first=True,
            norm_first=config.norm == "pre",
        )

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Return the logits (B, T, V) of the token after each of `target_ids` (B, T)."""
        padding = source_ids == 0
        length = target_ids.size(1)
        states = self.transformer(
            self.embed(source_ids),
            self.embed(target_ids),
            tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_key_padding_mask=target_ids == 0,
            tgt_is_causal=True,
        )
        return F.linear(states, self.tokens.weight)

    def embed(self, ids: Tensor) -> Tensor:
        """Return the vectors (B, T, d_model) of ids (B, T)."""
        scale = self.tokens.embedding_dim**0.5
        return self.tokens(ids) * scale + self.table[: ids.size(1)]


def peer_steps(
    peer: Peer, batches: Iterator[Batch], d_model: int, settings: Settings
) -> Iterator[float]:
    """Train the peer as `train_step` does, and yield the loss of each step."""
    [optimizer] = make_optimizers(peer)
    for number, batch in enumerate(batches, start=1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(number, d_model, settings)
        logits = peer(batch.source_ids, batch.target_ids)
        loss = F.cross_entropy(logits.flatten(0, 1), batch.next_ids.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(peer.parameters(), settings.clip)
        optimizer.step()
        yield loss.item()


def both(task: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a function that trains our small model by one step, and one for torch's."""
    options = replace(default_options(task), steps=10_000)
    ours = SmallModel(options)
    # The peer keeps no snapshots and measures no score, so ours does not either.
    vars(ours).update(keep_snapshot=lambda step: None, score=lambda: None)
    steps = ours.train()
    peer = Peer(ours.model.config)
    theirs = peer_steps(peer, SmallModel(options).batches(), options.d_model, options.settings)
    return lambda: next(steps), lambda: next(theirs)


def main() -> None:
    """Measure and report."""
    path = json_option()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    cases = [compare_times(f"{task} step", *both(task), ROUNDS) for task in TASKS]
    report(cases, path)


if __name__ == "__main__":
    main()
