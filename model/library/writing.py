"""Writing by models of the transformers library, with every step and its attention."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from model.decoding.search import Decoded, Expansion, search
from model.decoding.steps import Decoding, Writing
from model.decoding.strategies import Strategy
from model.edits import opens_the_future
from model.library.attachment import Attachment
from model.library.generation import GenerationPrefixes
from model.library.hub import first_line
from model.library.piece_tokenizer import PieceTokenizer
from model.library.pieces import Piece
from model.tokens import token_ids
from model.trace import Run, RunEdits

if TYPE_CHECKING:
    from transformers import LogitsProcessorList, PreTrainedModel

LONGEST = 64  # tokens written if nothing else is asked for


class Writer:
    """A model that writes: an encoder-decoder, or one with only a decoder that continues a prompt.

    The search is ours; `generate` of transformers prepares the cache, the encoder's outputs and the
    demands of the model's generation config, such as suppressed tokens and penalties for
    repetition. The log-probabilities are those of the model after these changes.
    """

    def __init__(
        self, model: PreTrainedModel, tokens: PieceTokenizer, attached: Attachment
    ) -> None:
        self.model = model
        self.tokens = tokens
        self.attached = attached

    @property
    def reads_source(self) -> bool:
        """Whether the model has an encoder."""
        return self.model.config.is_encoder_decoder

    @property
    def end_ids(self) -> list[int]:
        """The tokens that end the model's texts, the usual one first; unknown ones are left out."""
        settings = getattr(self.model, "generation_config", None)  # only models that write have it
        ids = getattr(settings, "eos_token_id", None)
        named = ids if isinstance(ids, list) else [ids]
        return [end for end in named if type(end) is int and 0 <= end < self.tokens.known]

    def write(
        self,
        text: str,
        strategy: Strategy = Strategy(),
        *,
        longest: int | None = None,
        forced: Sequence[int] = (),
        pad_to: int | None = None,
        edits: RunEdits | None = None,
        chat: bool = True,
    ) -> Decoding:
        """Write a translation or a continuation of at most `longest` tokens; keep every step.

        An encoder reads the text, which `pad_to` can pad. A model with only a decoder reads it as a
        prompt, in the tokenizer's chat template if there is one and `chat` is True. Raises
        ValueError if there is nothing to read, no room to write, or a `forced` id that cannot be
        written.
        """
        read = self.tokens.read(text) if self.reads_source else self.prompt(text, chat)
        if not text.strip() or not read:
            raise ValueError("There is nothing to read: type a sentence.")
        source = self.tokens.pad(read, pad_to) if self.reads_source else []
        begun = self.start() if source else read
        record: list[Expansion] = []
        decoded = self.decode(source, begun, strategy, longest, forced, edits, record)
        written, target = self.tokens.written(decoded.written, begun)
        how = decoded.log_probability, decoded.finished, decoded.log_probabilities
        writing = Writing(text if source else "", written, source, target, *how)
        ends, append = frozenset(self.end_ids), self.tokens.append
        return Decoding(writing, strategy, record, begun=begun, ends=ends, append=append)

    @torch.inference_mode()
    def decode(
        self,
        source: Sequence[Piece],
        begun: Sequence[Piece],
        strategy: Strategy = Strategy(),
        longest: int | None = None,
        forced: Sequence[int] = (),
        edits: RunEdits | None = None,
        record: list[Expansion] | None = None,
    ) -> Decoded:
        """Write after the tokens that the decoder has read, for the source of the encoder, if any.

        If edits let a position see later ones, every step computes all positions anew. `record`
        receives the steps. Raises ValueError as `write` does.
        """
        edits, room = edits or {}, self.tokens.max_tokens - len(begun)
        if room < 1:
            raise ValueError(
                f"The prompt has {len(begun)} tokens, which leaves no room to write: the model "
                f"takes {self.tokens.max_tokens}. Shorten the prompt."
            )
        limit = min(LONGEST if longest is None else longest, room)
        encoding = ExitStack()  # the encoder runs under the edits, and then each step does

        def our_search(
            model: PreTrainedModel,
            input_ids: Tensor,
            logits_processor: LogitsProcessorList,
            stopping_criteria: object,
            generation_config: object,
            **model_kwargs: object,
        ) -> list[Decoded]:
            encoding.close()
            prefixes = GenerationPrefixes(
                model, self.attached, input_ids, model_kwargs, logits_processor,
                ends=frozenset(self.end_ids), edits=edits, beam=strategy.width > 1,
            )  # fmt: skip
            return search(prefixes, strategy, max_new_tokens=limit, forced=forced, record=record)

        ids = token_ids(source or begun, self.model.device)
        mask = torch.ones_like(ids)
        if source:
            mask[:, self.tokens.unpadded(source) :] = 0
        inputs = {"input_ids": ids, "attention_mask": mask}
        if source:
            inputs["decoder_input_ids"] = token_ids(begun, self.model.device)
            encoding.enter_context(self.attached.watching(Run(edits)))
        has_cache = getattr(self.model.config, "use_cache", True)
        with encoding:
            (decoded,) = self.model.generate(
                **inputs,
                custom_generate=our_search,
                max_new_tokens=max(1, limit),
                use_cache=has_cache and not opens_the_future(edits),
                do_sample=False,  # so that only the strategy narrows the draw
                num_beams=1,
                num_return_sequences=1,
            )
        return decoded

    def begin(self, text: str) -> list[Piece]:
        """Return the tokens of a text that writing should begin with; a typed leading space counts.

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

        In a multilingual model the token of the target language follows, which `generate` would
        force instead.
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
