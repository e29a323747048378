"""A training in the processes that torchrun starts: each reads a share of every batch.

Together they compute what one process would with the whole batch, except for rounding. Only dropout
draws other masks, which depend on the seed, the step and the process.
"""

import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import torch
from torch import Tensor, distributed, nn
from torch.nn.parallel import DistributedDataParallel

from headlight.model.training.data import Batch, EncodedPair, collate

LONGEST_WAIT = timedelta(days=1)  # for the first process, which scores and saves


@contextmanager
def joined() -> Iterator[None]:
    """Join the other processes if torchrun started several, over NCCL on GPUs or over Gloo.

    Raises ValueError if a machine with GPUs has fewer GPUs than processes.
    """
    if int(os.environ.get("WORLD_SIZE", 1)) == 1:
        yield
        return
    gpus, here = torch.cuda.device_count(), int(os.environ["LOCAL_RANK"])
    if gpus:
        if here >= gpus:
            raise ValueError(f"A process takes a GPU: start torchrun with --nproc-per-node {gpus}.")
        torch.cuda.set_device(here)
    distributed.init_process_group("nccl" if gpus else "gloo", timeout=LONGEST_WAIT)
    yield
    wait()  # for the last files: a process that leaves early ends the others
    distributed.destroy_process_group()


def processes() -> int:
    """Return the number of processes that train together."""
    joined = distributed.is_available() and distributed.is_initialized()
    return distributed.get_world_size() if joined else 1


def rank() -> int:
    """Return the number of this process among them, from 0."""
    return distributed.get_rank() if processes() > 1 else 0


def is_first() -> bool:
    """Return whether this process writes files and prints the progress."""
    return rank() == 0


def wait() -> None:
    """Wait until all processes have reached this call."""
    if processes() > 1:
        distributed.barrier()


def share(pairs: Sequence[EncodedPair]) -> Batch:
    """Return the share of a batch that this process reads.

    Its weight is its share of tokens, so that the mean of all losses is that of the whole batch.
    """
    part = pairs[rank() :: processes()]
    here, everywhere = (sum(len(pair.target) + 1 for pair in some) for some in (part, pairs))
    # A process without pairs takes part nonetheless, since all wait for each other.
    return replace(collate(part or pairs[:1]), weight=processes() * here / everywhere)


def shared(model: nn.Module, loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Return a loss of the model whose gradients are the mean over all processes.

    `loss` is called with the model and the arguments of the returned function.
    """
    own = _Loss(model, loss)
    return DistributedDataParallel(own, forward_sync_buffers=False) if processes() > 1 else own


class _Loss(nn.Module):
    def __init__(self, model: nn.Module, loss: Callable[..., Tensor]) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, *arguments: object) -> Tensor:
        return self.loss(self.model, *arguments)


def mean(value: Tensor) -> float:
    """Return the mean of a number over all processes."""
    value = value.detach().clone()
    if processes() > 1:
        distributed.all_reduce(value)
    return value.item() / processes()


def draw_anew(seed: int, step: int) -> None:
    """Give this process its own random numbers in a step, the same in a resumed training."""
    if processes() > 1:
        torch.manual_seed(random.Random(f"{seed} {step} {rank()}").getrandbits(63))
