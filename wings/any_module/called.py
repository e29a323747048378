"""Call a module in memory with ids, and find the logits in its output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headlight.model.library.answers import OutputHead
from headlight.model.library.hub import first_line
from headlight.wings.any_module.own_tokens import OwnTokens

# A function that calls a model with the ids (B, T) of texts, or of sources and targets, and returns
# its logits: (B, T, V) or (B, classes).
Call = Callable[..., Tensor]


@dataclass(frozen=True)
class Called:
    """A model in memory, with the function that calls it with ids, and its tokenizers."""

    model: nn.Module
    call: Call
    tokens: OwnTokens
    target_tokens: OwnTokens
    two_sided: bool
    head: OutputHead | None
    max_tokens: int
    start: int | None = None  # the id with which a target begins
    end: int | None = None  # the id with which a target ends
    padding: int | None = None  # the id of padding, which the model's own mask hides

    def logits(self, *texts: Tensor) -> Tensor:
        """Return the model's logits; raises ValueError with a sentence if the call fails."""
        try:
            output = self.call(self.model, *texts)
            return logits_in(output)
        except ValueError:
            raise
        except Exception as error:  # the model's own code can raise any kind of error
            parts = self.model.modules()
            known = [part.num_embeddings for part in parts if isinstance(part, nn.Embedding)]
            if known and (largest := max(int(part.max()) for part in texts)) >= max(known):
                raise ValueError(
                    f"The model knows {max(known):,} tokens, from 0, and this text has the token "
                    f"{largest:,}. Change the text."
                ) from error
            sizes = " and ".join(str(tuple(part.shape)) for part in texts)
            raise ValueError(
                f"{type(self.model).__name__} cannot read ids of the shape {sizes}: "
                f"{first_line(error)} If it takes other inputs, open it with call=: a function of "
                "the model and ids (B, T), of the source and the target if there are both, that "
                "returns logits (B, T, V). If the text is too long, give max_tokens=."
            ) from error

    @property
    def device(self) -> torch.device:
        return next((weight.device for weight in self.model.parameters()), torch.device("cpu"))


def logits_in(output: object) -> Tensor:
    """Return the logits in a model's output: the entry `logits`, or the first tensor."""
    if isinstance(output, Mapping):
        output = output.get("logits", next(iter(output.values()), None))
    while isinstance(output, tuple | list) and output:
        output = output[0]
    if not isinstance(output, Tensor):
        raise ValueError(f"The model returned {type(output).__name__}, and no tensor.")
    return output
