"""Lets models of the transformers library write, and records every step and its attention.

The model keeps its own key-value cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from headlight.model.decoding.search import Decoded, Expansion, room_to_write, search
from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import opens_the_future
from headlight.model.library.generation import GenerationPrefixes, Processor, Watchable, generate
from headlight.model.library.hub import first_line
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import Piece
from headlight.model.questions import Request
from headlight.model.tokens import Token, token_ids
from headlight.model.transformer.trace import Run, RunEdits

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Writer:
    """A model that writes: an encoder-decoder, or one with only a decoder that continues a prompt.

    The search is this project's. `generate` of transformers prepares the cache, the encoder's
    outputs, and the processors of the model's generation configuration, such as suppressed tokens
    and penalties for repetition; log-probabilities are those after these processors. Stop strings
    and token healing need the tokenizer, which `generate` does not take with another search: they
    are applied here, by the library's own code.
    """

    def __init__(self, model: PreTrainedModel, tokens: PieceTokenizer, attached: Watchable) -> None:
        self.model = model
        self.tokens = tokens
        self.attached = attached
        settings: Any = getattr(model, "generation_config", None)  # only models that write have one
        self.stop_strings: list[str] | str = getattr(settings, "stop_strings", None) or []
        self.heals = bool(getattr(settings, "token_healing", None))
        # the library heals by writing one token: with healing on, that call would heal again
        if self.heals:
            settings.stop_strings, settings.token_healing = None, False

    @property
    def reads_source(self) -> bool:
        return self.model.config.is_encoder_decoder

    @property
    def end_ids(self) -> list[int]:
        """The ids that end the model's texts, the usual one first, without unknown ids."""
        settings = getattr(self.model, "generation_config", None)
        ids = getattr(settings, "eos_token_id", None)
        named = ids if isinstance(ids, list) else [ids]
        return [end for end in named if type(end) is int and 0 <= end < self.tokens.known]

    @cached_property
    def stops(self) -> Callable[[Tensor], Tensor] | None:
        """The library's test of which texts (R, N) end with a stop string: bool (R,).

        None if the configuration has no stop string.
        """
        if not self.stop_strings:
            return None
        from transformers import StopStringCriteria

        criteria = StopStringCriteria(self.tokens.tokenizer, self.stop_strings)
        return lambda ids: criteria(ids, None)  # pyright: ignore[reportArgumentType]  # unused

    def write(
        self,
        text: Request,
        strategy: Strategy,
        *,
        longest: int | None = None,
        forced: Sequence[int] = (),
        chat: bool = True,
    ) -> Decoding:
        """Write a translation or a continuation, and keep every step; see `Reader.write`.

        An encoder reads the text. A model with only a decoder reads it as a prompt, in the
        tokenizer's chat template if there is one and `chat` is True.
        """
        read = self.tokens.read(text.text) if self.reads_source else self.begun(text.text, chat)
        if not text.text.strip() or not read:
            raise ValueError("There is nothing to read: type a sentence.")
        source = self.tokens.pad(read, text.pad_to) if self.reads_source else []
        begun = self.start() if source else read
        record: list[Expansion] = []
        decoded = self.decode(source, begun, strategy, longest, forced, text.edits, record)
        written, target = self.tokens.written(decoded.written, begun)
        how = decoded.log_probability, decoded.finished, decoded.log_probabilities, decoded.stopped
        writing = Writing(text.text if source else "", written, source, target, *how)
        ends, append = frozenset(self.end_ids), self.tokens.append
        return Decoding(writing, strategy, record, begun=begun, ends=ends, append=append)

    @torch.inference_mode()
    def decode(
        self,
        source: Sequence[Token],
        begun: Sequence[Token],
        strategy: Strategy = Strategy(),
        longest: int | None = None,
        forced: Sequence[int] = (),
        edits: RunEdits | None = None,
        record: list[Expansion] | None = None,
    ) -> Decoded:
        """Write after the tokens `begun`, with the source of the encoder if there is one.

        If edits let a position see later ones, every step runs over all positions again. `record`
        receives the steps. Raises ValueError as `write` does.
        """
        edits = edits or {}
        limit = room_to_write(len(begun), self.tokens.max_tokens, longest)
        encoding = ExitStack()  # the edits apply while the encoder runs, and at each step

        def our_search(
            model: PreTrainedModel,
            input_ids: Tensor,
            logits_processor: Processor,
            stopping_criteria: object,
            generation_config: object,
            **model_kwargs: Any,
        ) -> list[Decoded]:
            encoding.close()
            prefixes = GenerationPrefixes(
                model, self.attached, input_ids, model_kwargs, logits_processor,
                ends=frozenset(self.end_ids), edits=edits, beam=strategy.width > 1,
            )  # fmt: skip
            stops = self.stops and partial(stops_after, self.stops, input_ids)
            return search(
                prefixes, strategy, max_new_tokens=limit, forced=forced, record=record, stop=stops
            )

        ids = token_ids(source or begun, self.model.device)
        mask = torch.tensor([[not piece.is_padding for piece in source or begun]]).to(ids)
        inputs = {"input_ids": ids, "attention_mask": mask}
        if source:
            inputs["decoder_input_ids"] = token_ids(begun, self.model.device)
            encoding.enter_context(self.attached.watching(Run(edits)))
        cached = not opens_the_future(edits)
        with encoding:
            (decoded,) = generate(self.model, inputs, our_search, max(1, limit), cached=cached)
        return decoded

    def begin(self, text: str) -> list[Piece]:
        """Return the tokens of a text that writing should begin with; a leading space is kept.

        Raises ValueError if the model has no token for some of the text.
        """
        side = "text_target" if self.reads_source else "text"
        pieces = self.tokens.pieces(**{side: text}, add_special_tokens=False)
        unknown = [piece.text for piece in pieces if piece.is_unknown]
        if unknown:
            raise ValueError(f"The model has no token for “{' '.join(unknown)}”.")
        return pieces

    def start(self) -> list[Piece]:
        """Return the tokens that the decoder of an encoder-decoder reads first: its start token.

        In a multilingual model the token of the target language follows; `generate` of transformers
        would force it as the first written token instead.
        """
        config = self.model.generation_config
        first = config.decoder_start_token_id
        ids = [config.bos_token_id if first is None else first]
        if config.forced_bos_token_id is not None:
            ids.append(config.forced_bos_token_id)
        elif getattr(self.tokens.tokenizer, "tgt_lang", None):
            label = self.tokens.pieces(text_target="")[0].id
            ids += [] if label in (*ids, *self.end_ids) else [label]
        return self.tokens.written(ids)[1]

    def begun(self, text: str, chat: bool = True) -> list[Piece]:
        """Return the prompt after which a model with only a decoder writes.

        If its configuration asks for token healing, the last token is replaced by a likelier one
        that begins with the same characters, as the library does. Raises ValueError if that fails.
        """
        read = self.prompt(text, chat)
        if not (self.heals and read):
            return read
        ids = token_ids(read, self.model.device)
        try:
            with self.tokens.tokenizing, torch.inference_mode():
                model: Any = self.model
                healed = model.heal_tokens(ids, self.tokens.tokenizer)
        # token healing needs a padding token and a start token
        except (TypeError, ValueError) as error:
            raise ValueError(
                "The model's configuration asks for token healing, which the library cannot do "
                f"with this tokenizer: {first_line(error)} Switch token_healing off in its "
                "generation_config.json."
            ) from error
        return read if healed.equal(ids) else self.tokens.written(healed[0].tolist())[1]

    def prompt(self, text: str, chat: bool = True) -> list[Piece]:
        """Return the prompt of a model with only a decoder: a text, in its chat template if any.

        Raises ValueError if the template does not accept it.
        """
        if not (chat and self.tokens.tokenizer.chat_template):
            return self.tokens.pieces(text=text)
        from jinja2 import TemplateError

        try:
            line = self.tokens.tokenizer.apply_chat_template(
                [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
            )
        except (TemplateError, ArithmeticError, LookupError, TypeError) as error:
            raise ValueError(
                f"The model's chat template does not take this text: {first_line(error)} Write "
                "without the template."
            ) from error
        return self.tokens.pieces(text=line, add_special_tokens=False)


def stops_after(stops: Callable[[Tensor], Tensor], begun: Tensor, texts: Tensor) -> Tensor:
    """Return which texts (R, T), written after `begun` (1, N), end with a stop string: (R,)."""
    return stops(torch.cat([begun.expand(len(texts), -1), texts], dim=1))
