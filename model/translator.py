"""Text in, text and traces out: what the pages and notebooks call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from model.checkpoint import load_checkpoint
from model.decoding.search import Expansion, decode
from model.decoding.steps import Decoding, Translation
from model.decoding.strategies import Strategy, StrategyName
from model.device import best_device
from model.masks import look_ahead_mask
from model.memory_layout import lay_out
from model.sequences import token_ids
from model.tokenizer import Tokenizer
from model.tokens import END_ID, PAD_ID, START_ID, Token
from model.trace import Run, RunEdits, Trace
from model.transformer import Transformer

PRETRAINED = Path(__file__).parent / "pretrained"


class Translator:
    """A trained model with its tokenizer; holds no state of a call, so threads may share it."""

    def __init__(self, model: Transformer, tokenizer: Tokenizer) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer

    @property
    def default_new_tokens(self) -> int:
        """How long a translation may become if nothing else is asked for."""
        return min(64, self.max_tokens)

    @property
    def max_tokens(self) -> int:
        """How many tokens of a sentence the model can read; one position is the end token's."""
        return self.model.config.max_positions - 1

    def read(self, source: str, pad_to: int | None = None) -> list[Token]:
        """Return what the encoder reads: the sentence, cut at `max_tokens`, and the end token.

        `pad_to` appends padding until there are that many tokens. Raises ValueError if the
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
        strategy: StrategyName = "greedy",
        max_new_tokens: int | None = None,
        prefix: str | Sequence[int] = "",
        edits: RunEdits | None = None,
        pad_to: int | None = None,
        **options: float,
    ) -> Translation:
        """Translate a sentence; `options` are those of Strategy, such as beam_size=4.

        The translation begins with `prefix`, a text or ids. Raises ValueError for a sentence with
        nothing to read, and for a prefix or options that make no sense.
        """
        chosen = Strategy(strategy, **options)
        return self._write(source, chosen, max_new_tokens, prefix, edits, pad_to)

    def steps(
        self,
        source: str,
        *,
        strategy: StrategyName = "greedy",
        max_new_tokens: int | None = None,
        prefix: str | Sequence[int] = "",
        edits: RunEdits | None = None,
        pad_to: int | None = None,
        **options: float,
    ) -> Decoding:
        """Translate a sentence and keep every step, with its attention; see `translate`."""
        chosen = Strategy(strategy, **options)
        record: list[Expansion] = []
        translation = self._write(source, chosen, max_new_tokens, prefix, edits, pad_to, record)
        return Decoding(translation, chosen, self.tokenizer, record)

    def _write(
        self,
        source: str,
        strategy: Strategy,
        max_new_tokens: int | None,
        prefix: str | Sequence[int],
        edits: RunEdits | None,
        pad_to: int | None,
        record: list[Expansion] | None = None,
    ) -> Translation:
        tokens = self.read(source, pad_to)
        if isinstance(prefix, str):
            prefix = [token.id for token in self.write(prefix)]
        limit = self.default_new_tokens if max_new_tokens is None else max_new_tokens
        (decoded,) = decode(
            self.model,
            self.ids(tokens),
            strategy,
            max_new_tokens=min(limit, self.max_tokens),
            forced=prefix,
            edits=edits,
            record=record,
        )
        ids = [*decoded.ids, END_ID] if decoded.finished else decoded.ids
        text, target_tokens = self.tokenizer.decode_tokens(ids)
        return Translation(source, text, tokens, target_tokens, decoded.log_probability)

    def write(self, text: str) -> list[Token]:
        """Return the tokens that a translation can be made to begin with.

        Raises ValueError if the model has no token for some of the text.
        """
        tokens = self.tokenizer.encode(text)
        unknown = [token.text for token in tokens if token.is_unknown]
        if unknown:
            raise ValueError(f"The model has no token for “{' '.join(unknown)}”.")
        return tokens

    @torch.inference_mode()
    def trace(
        self,
        source: str,
        target: str | Translation | None = None,
        *,
        edits: RunEdits | None = None,
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
        """Return tokens with padding appended until there are `length`."""
        padding = self.tokenizer.special_token(PAD_ID, tokens[-1].end)
        return tokens + [padding] * ((length or 0) - len(tokens))

    def masks(self, trace: Trace) -> tuple[Tensor, Tensor, Tensor]:
        """Return the masks as trained for the tokens of a trace.

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
        return token_ids(tokens, self.model.device)


def load(name: str | Path) -> Translator:
    """Load a shipped model by name, such as "en-fr", or a checkpoint folder; on the GPU if any.

    Raises FileNotFoundError or ValueError if there is no usable checkpoint.
    """
    shipped = sorted(path.parent.name for path in PRETRAINED.glob("*/config.json"))
    folder = PRETRAINED / name if str(name) in shipped else Path(name)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{name} is neither a shipped model ({', '.join(shipped)}) nor a folder."
        )
    model, tokenizer = load_checkpoint(folder)
    return Translator(lay_out(model.to(best_device())), tokenizer)
