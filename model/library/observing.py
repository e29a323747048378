"""All attention of a model's call, in order, wherever its modules compute it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from headlight.model.library.attention_interface import Watch
from headlight.model.library.own_code import CodeCall, meeting
from headlight.model.library.running import enter, leave
from headlight.model.trace import AttentionRecord, Run, Site, Trace


@dataclass
class Observed:
    """The attention of a call of a model: the modules that attended, and their records."""

    rows: int  # texts in the batch
    modules: list[nn.Module] = field(default_factory=list)
    trace: Trace = field(default_factory=Trace)
    call: CodeCall = field(init=False)

    def __post_init__(self) -> None:
        watch = Watch(Run(trace=self.trace), self.site_of)
        self.call = CodeCall(watch, self.heads_of)

    def begin(self, rows: int) -> None:
        """Begin another call, with so many texts, and forget the one before."""
        self.rows = rows
        self.modules.clear()
        self.trace.attention.clear()

    @property
    def records(self) -> list[AttentionRecord]:
        """A record for each of the modules."""
        self.call.keep()
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
    with meeting(observed.call):
        yield observed


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
