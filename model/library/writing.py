"""Writing by models of the transformers library, with every step and its attention.

The model keeps its own key-value cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from headlight.model.decoding.cache import CacheSize
from headlight.model.decoding.search import Decoded, Expansion, room_to_write, search
from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import opens_the_future
from headlight.model.library.hub import first_line
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.pieces import Piece
from headlight.model.questions import Request
from headlight.model.tokens import Token, token_ids
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Kind, Run, RunEdits, Site

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Processor = Callable[[Tensor, Tensor], Tensor]  # of ids, and of the logits of their next ones


class Writer:
    """A model that writes: an encoder-decoder, or one with only a decoder that continues a prompt.

    The search is ours; `generate` of transformers prepares the cache, the encoder's outputs and the
    demands of the model's generation config, such as suppressed tokens and penalties for
    repetition. The log-probabilities are those of the model after these changes.
    """

    def __init__(self, model: PreTrainedModel, tokens: PieceTokenizer, attached: Watchable) -> None:
        self.model = model
        self.tokens = tokens
        self.attached = attached

    @property
    def reads_source(self) -> bool:
        return self.model.config.is_encoder_decoder

    @property
    def end_ids(self) -> list[int]:
        """The tokens that end the model's texts, the usual one first, without unknown ones."""
        settings = getattr(self.model, "generation_config", None)  # only models that write have it
        ids = getattr(settings, "eos_token_id", None)
        named = ids if isinstance(ids, list) else [ids]
        return [end for end in named if type(end) is int and 0 <= end < self.tokens.known]

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
        read = self.tokens.read(text.text) if self.reads_source else self.prompt(text.text, chat)
        if not text.text.strip() or not read:
            raise ValueError("There is nothing to read: type a sentence.")
        source = self.tokens.pad(read, text.pad_to) if self.reads_source else []
        begun = self.start() if source else read
        record: list[Expansion] = []
        decoded = self.decode(source, begun, strategy, longest, forced, text.edits, record)
        written, target = self.tokens.written(decoded.written, begun)
        how = decoded.log_probability, decoded.finished, decoded.log_probabilities
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
        """Write after the tokens that the decoder has read, for the source of the encoder, if any.

        If edits let a position see later ones, every step computes all positions anew. `record`
        receives the steps. Raises ValueError as `write` does.
        """
        edits = edits or {}
        limit = room_to_write(len(begun), self.tokens.max_tokens, longest)
        encoding = ExitStack()  # the encoder runs under the edits, and then each step does

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
            return search(prefixes, strategy, max_new_tokens=limit, forced=forced, record=record)

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


class Watchable(Protocol):
    """A model whose calls can record and edit; see `Attachment`."""

    def watching(self, run: Run, *, first_query: int = 0) -> AbstractContextManager[None]:
        """Let calls of the model in this context record and edit."""
        ...


def generate(
    model: Any, inputs: Mapping[str, Tensor], search: Callable, most: int, *, cached: bool = True
) -> Any:
    """Let `generate` of transformers prepare at most so many tokens, and return what a search does.

    The model has a cache if it is `cached`, and its configuration does not forbid it.
    """
    return model.generate(
        **inputs,
        custom_generate=search,
        max_new_tokens=most,
        use_cache=cached and getattr(model.config, "use_cache", True),
        do_sample=False,  # so that only the strategy narrows the draw
        num_beams=1,
        num_return_sequences=1,
    )


class GenerationPrefixes:
    """The prefixes of our search in a generation that `generate` of transformers prepared.

    `ids` (1, N) are the decoder's tokens before it writes. `inputs` are the cache, the encoder's
    outputs and all other arguments of the model. The processors change log-probabilities for a
    beam, and logits otherwise, as in transformers.
    """

    def __init__(
        self,
        model: Any,
        attached: Watchable,
        ids: Tensor,
        inputs: Mapping[str, Any],
        processors: Processor,
        *,
        ends: Set[int],
        edits: RunEdits,
        beam: bool,
    ) -> None:
        self.model = model
        self.attached = attached
        self.ids = ids
        self.begun = ids.size(1)
        self.inputs = dict(inputs)
        self.processors = processors
        self.ends = ends
        self.edits = edits
        self.beam = beam
        self.vocabulary = model.get_output_embeddings().weight.size(0)

    def next_log_probabilities(self, trace: Trace | None = None) -> Tensor:
        """Return log-probabilities (R, V) of each row's next token; `trace` records the call."""
        is_first = self.ids.size(1) == self.begun
        decoded_before = 0 if is_first or not self.inputs["use_cache"] else self.ids.size(1) - 1
        call = self.model.prepare_inputs_for_generation(
            self.ids,
            next_sequence_length=1 if decoded_before else None,
            is_first_iteration=is_first,
            **self.inputs,
        )
        with self.attached.watching(Run(self.edits, trace), first_query=decoded_before):
            outputs = self.model(**call, return_dict=True)
        self.inputs = self.model._update_model_kwargs_for_generation(
            outputs, self.inputs, is_encoder_decoder=self.model.config.is_encoder_decoder
        )
        logits = outputs.logits[:, -1].to(torch.float32, copy=True)
        if self.beam:
            return self.processors(self.ids, logits.log_softmax(dim=-1))
        return self.processors(self.ids, logits).log_softmax(dim=-1)

    def cache_sizes(self) -> dict[Site, CacheSize]:
        """Return what the model's own cache holds, measured on its tensors."""
        cache = self.inputs.get("past_key_values")
        if not self.inputs.get("use_cache") or cache is None:
            return {}
        crossed = getattr(cache, "cross_attention_cache", None)
        parts: dict[Kind, object] = {"decoder": getattr(cache, "self_attention_cache", cache)}
        parts |= {} if crossed is None else {"cross": crossed}
        return {
            Site(kind, number): CacheSize.of(
                layer.keys,
                layer.values,
                layer.sliding_window - 1 if getattr(layer, "is_sliding", False) else None,
            )
            for kind, part in parts.items()
            for number, layer in enumerate(getattr(part, "layers", ()))
            if getattr(layer, "keys", None) is not None and layer.keys.dim() == 4
        }

    def extend(self, rows: Tensor, ids: Tensor) -> None:
        """Continue with these rows, in this order, and append one of ids (R,) to each."""
        count = len(self.ids)
        if rows.tolist() != list(range(count)):
            self.ids = self.ids[rows]
            self.inputs = {
                name: chosen_rows(part, rows, count) for name, part in self.inputs.items()
            }
        self.ids = torch.cat([self.ids, ids[:, None]], dim=1)


def chosen_rows(part: object, rows: Tensor, count: int) -> object:
    """Return these rows of an argument of the model, if it has `count` rows."""
    from transformers import Cache
    from transformers.utils.generic import ModelOutput

    if isinstance(part, Cache):
        part.reorder_cache(rows)  # pyright: ignore[reportArgumentType]  # of any integers
    elif isinstance(part, ModelOutput):
        return type(part)({name: chosen_rows(value, rows, count) for name, value in part.items()})
    elif isinstance(part, Tensor) and part.dim() and len(part) == count:
        return part[rows]
    return part
