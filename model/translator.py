"""Text in, text and traces out: what the pages and notebooks call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from model.checkpoint import load_checkpoint
from model.data import pad
from model.decoding import beam_search, greedy, sample
from model.masks import look_ahead_mask
from model.tokenizer import END_ID, PAD_ID, START_ID, Token, Tokenizer
from model.trace import AttentionEdit, Run, Site, Trace
from model.transformer import Transformer

PRETRAINED = Path(__file__).parent / "pretrained"


@dataclass(frozen=True)
class Translation:
    """A source sentence, its translation, and the tokens of both.

    `source_tokens` is what the encoder read; `target_tokens` is what the decoder wrote, with the
    end token where it came. Spans count characters of `source` and `text`.
    """

    source: str
    text: str
    source_tokens: list[Token]
    target_tokens: list[Token]
    score: float  # log-probability of the target tokens, in nats

    @property
    def unread(self) -> str:
        """The end of a sentence that was longer than the model can take."""
        end = next(token for token in self.source_tokens if token.id == END_ID)
        return self.source[end.start :].strip()

    @property
    def finished(self) -> bool:
        """Whether the end token came before the limit."""
        return bool(self.target_tokens) and self.target_tokens[-1].id == END_ID


class Translator:
    """A trained model with its tokenizer; holds no state of a call, so threads may share it."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer

    @property
    def default_new_tokens(self) -> int:
        """How long a translation may become where nothing else is asked for."""
        return min(64, self.max_tokens)

    @property
    def max_tokens(self) -> int:
        """How many tokens of a sentence the model can read; one position is the end token's."""
        return self.model.config.max_positions - 1

    def read(self, source: str, pad_to: int | None = None) -> list[Token]:
        """The tokens the encoder reads: the sentence, cut at `max_tokens`, and the end token.

        `pad_to` appends padding until there are that many tokens. Raises ValueError where the
        sentence has nothing to read, or `pad_to` is more than the model's positions.
        """
        if pad_to is not None and pad_to > self.model.config.max_positions:
            raise ValueError(
                f"Cannot pad to {pad_to} tokens: the model takes {self.model.config.max_positions}."
            )
        tokens = self.tokenizer.encode(source)[: self.max_tokens]
        if not tokens:
            raise ValueError("There is nothing to translate: type a sentence.")
        tokens.append(self.tokenizer.special_token(END_ID, tokens[-1].end))
        return self.pad(tokens, pad_to)

    def translate(
        self,
        source: str,
        *,
        strategy: Literal["greedy", "beam", "sample"] = "greedy",
        beam_size: int = 4,
        length_penalty: float = 1.0,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        seed: int = 0,
        max_new_tokens: int | None = None,
        edits: Mapping[Site, AttentionEdit] | None = None,
        pad_to: int | None = None,
    ) -> Translation:
        """Translate a sentence; see model/decoding.py for the strategies and their options.

        Raises ValueError for a sentence with nothing to read.
        """
        tokens = self.read(source, pad_to)
        limit = min(max_new_tokens or self.default_new_tokens, self.max_tokens)
        call = {
            "model": self.model,
            "source_ids": self.ids(tokens),
            "max_new_tokens": limit,
            "edits": edits,
        }
        if strategy == "beam":
            decoded = beam_search(**call, beam_size=beam_size, length_penalty=length_penalty)
        elif strategy == "sample":
            drawing = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
            decoded = sample(**call, **drawing)[0]
        else:
            decoded = greedy(**call)[0]
        ids = [*decoded.ids, END_ID] if decoded.finished else decoded.ids
        text, target_tokens = self.tokenizer.decode_tokens(ids)
        return Translation(source, text, tokens, target_tokens, decoded.log_probability)

    @torch.inference_mode()
    def trace(
        self,
        source: str,
        target: str | Translation | None = None,
        *,
        edits: Mapping[Site, AttentionEdit] | None = None,
        pad_to: int | None = None,
    ) -> Trace:
        """Record every attention block while the decoder reads `target`.

        `target` is a text, a translation made before, or None for the model's own translation.
        The decoder reads the start token and then the target, so its last row predicts the end.
        `pad_to` pads both sides that are shorter.
        """
        if target is None:
            target = self.translate(source, edits=edits, pad_to=pad_to)
        if isinstance(target, Translation):
            written = [token for token in target.target_tokens if token.id != END_ID]
        else:
            written = self.tokenizer.encode(target)[: self.max_tokens]
        target_tokens = [self.tokenizer.special_token(START_ID), *written]
        trace = Trace(
            source_tokens=self.read(source, pad_to),
            target_tokens=self.pad(target_tokens, pad_to),
        )
        run = Run(edits or {}, trace)
        self.model(self.ids(trace.source_tokens), self.ids(trace.target_tokens), run)
        return trace

    def pad(self, tokens: list[Token], length: int | None) -> list[Token]:
        """Tokens with padding appended until there are `length`."""
        padding = self.tokenizer.special_token(PAD_ID, tokens[-1].end)
        return tokens + [padding] * ((length or 0) - len(tokens))

    def masks(self, trace: Trace) -> tuple[Tensor, Tensor, Tensor]:
        """The masks as trained for the tokens of a trace.

        Source padding (1, S), look-ahead (T, T), and look-ahead with the target's padding (T, T).
        """
        source_ids, target_ids = self.ids(trace.source_tokens), self.ids(trace.target_tokens)
        return (
            self.model.source_mask(source_ids)[0, 0],
            look_ahead_mask(target_ids.size(1))[0, 0],
            self.model.target_mask(target_ids)[0, 0],
        )

    def ids(self, tokens: Sequence[Token]) -> Tensor:
        """Tokens -> (1, T) ids on the model's device."""
        return pad([[token.id for token in tokens]]).to(self.model.device)


def load(name: str | Path) -> Translator:
    """Load a shipped model by name, such as "en-fr", or a checkpoint folder; on the GPU if any.

    Raises FileNotFoundError or ValueError where there is no usable checkpoint.
    """
    shipped = sorted(path.parent.name for path in PRETRAINED.glob("*/config.json"))
    folder = PRETRAINED / name if str(name) in shipped else Path(name)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{name} is neither a shipped model ({', '.join(shipped)}) nor a folder."
        )
    model, tokenizer = load_checkpoint(folder)
    return Translator(model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer)
