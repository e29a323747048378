"""All attention of a model's call, in order, wherever its modules compute it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from headlight.model.library.attention_interface import Watch
from headlight.model.library.own_code import CodeCall, enter, leave, meeting
from headlight.model.trace import AttentionRecord, Run, Site, Trace


@dataclass
class Observed:
    """The attention of a call of a model: the modules that attended, and their records."""

    rows: int  # texts in the batch
    modules: list[nn.Module] = field(default_factory=list)
    most: int = 1  # times that a module attended in one call of it
    trace: Trace = field(default_factory=Trace)

    @property
    def records(self) -> list[AttentionRecord]:
        """A record for each of the modules."""
        return [self.trace.attention[Site("encoder", n)] for n in range(len(self.modules))]

    def site_of(self, module: nn.Module) -> Site:
        self.modules.append(module)
        return Site("encoder", len(self.modules) - 1)

    def heads_of(self, _: Site, part: Tensor) -> int:
        """Return the heads of scores or queries, which may stand in the batch."""
        return part.shape[1:-2].numel() if part.dim() > 3 else max(1, len(part) // self.rows)


@contextmanager
def observing(rows: int) -> Iterator[Observed]:
    """Record all attention of modules with the hooks of `prepare`, in this context and thread."""
    observed = Observed(rows)
    watch = Watch(Run(trace=observed.trace), observed.site_of)
    call = CodeCall(watch, observed.heads_of)
    with meeting(call):
        yield observed
    observed.most = call.most


def prepare(model: nn.Module) -> list[RemovableHandle]:
    """Let calls of a model know in which module they are; return what takes that back.

    The small parts of torch, such as nn.Softmax, count as the module that they are in.
    """
    handles: list[RemovableHandle] = []
    for module in model.modules():
        is_small = type(module).__module__.startswith("torch.nn.")
        if module is model or isinstance(module, nn.MultiheadAttention) or not is_small:
            handles.append(module.register_forward_pre_hook(enter))
            handles.append(module.register_forward_hook(leave, always_call=True))
    return handles
