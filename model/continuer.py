"""A model of this project with only a decoder: it continues prompts and records traces."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from headlight.model.decoding.prefixes import TransformerPrefixes
from headlight.model.decoding.search import Expansion, room_to_write, search
from headlight.model.decoding.steps import Decoding, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.own_reader import OwnReader, objective_of
from headlight.model.questions import Objective, Question, Request
from headlight.model.shape import Ability
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import END_ID, START_ID, Token, no_source
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, RunEdits, Site
from headlight.model.transformer.transformer import Transformer

MISSING: Mapping[Ability, str] = {
    "read a pair": "This model continues one text, and cannot read a second one with it.",
    "mask words": "This model was trained to continue texts, and has no token that hides a word.",
    "compare words": "Words are compared before and after an encoder, but this model has only a "
    "decoder.",
}


class Continuer(OwnReader):
    """A model with only a decoder that continues a prompt; threads may share it.

    Its methods are described in model/reader.py. It reads a start token and then the prompt; a
    trace has both as its target tokens.
    """

    def __init__(self, model: Transformer, tokenizer: Tokenizer, *, title: str = "Decoder") -> None:
        super().__init__(model, tokenizer, title, MISSING)

    def read(self, text: str) -> list[Token]:
        """Return the decoder's input: the start token and the text, cut at `max_tokens`.

        Raises ValueError if there is nothing to read.
        """
        tokens = self.tokenizer.encode(text)[: self.max_tokens]
        if not tokens:
            raise ValueError("There is nothing to read: type a text.")
        return [self.tokenizer.special_token(START_ID), *tokens]

    def tokenized(self, request: Request) -> Trace:
        """Return a trace with the tokens of a prompt, and of its continuation if one is given."""
        self.refuse_others(request)
        self.refuse_padding(request.pad_to)
        read = [*self.read(request.text), *self.written(request.target or "")]
        most = self.model.config.max_positions
        finished = request.ends and len(read) <= most
        return Trace(target_tokens=self.pad(read[:most], request.pad_to), finished=finished)

    @torch.inference_mode()
    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        ids = self.padded_ids([trace.target_tokens for trace in traces])
        self.model.decoder(ids, None, self.model.target_mask(ids), None, run)

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        """Run the model again over the tokens of a trace; return the logits (B, T, V)."""
        return self.model.decode(self.ids(trace.target_tokens), None, None, run)

    @torch.inference_mode()
    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        """Record a run over the start token and these ids; see `Reader.trace_ids`."""
        _, tokens = self.tokenizer.decode_tokens(ids)
        trace = Trace(target_tokens=[self.tokenizer.special_token(START_ID), *tokens])
        self.record(trace, edits)
        return trace

    @torch.inference_mode()
    def write_text(
        self,
        text: Request,
        strategy: Strategy = Strategy(),
        longest: int | None = None,
        forced: Sequence[int] = (),
    ) -> Decoding:
        """Continue a prompt, without padding; see `Reader.write`."""
        begun = self.read(text.text)
        limit = room_to_write(len(begun), self.model.config.max_positions, longest)
        record: list[Expansion] = []
        nothing = no_source(1).to(self.model.device)
        prefixes = TransformerPrefixes(self.model, nothing, text.edits, begun=self.ids(begun))
        (decoded,) = search(prefixes, strategy, max_new_tokens=limit, forced=forced, record=record)
        written, tokens = self.tokenizer.decode_tokens(decoded.written)
        how = decoded.log_probability, decoded.finished, decoded.log_probabilities
        writing = Writing("", written, [], tokens, *how)
        return Decoding(writing, strategy, record, begun=begun, ends={END_ID}, append=self._append)

    def questions(self, trace: Trace) -> Sequence[Question]:
        return (Question("The next token", len(read_of(trace)) - 1),)

    def objective(
        self, trace: Trace, site: Site | None = None, query: int | None = None
    ) -> Objective:
        """Return the objective: the log-probability of all tokens, or of the one after a query."""
        following = read_of(trace)[1:]
        rows, what = range(len(following)), "the prompt"
        if site is not None and query is not None and query in rows:
            rows, what = [query], "the token after this query"
        return objective_of(what, following, rows)


def read_of(trace: Trace) -> list[Token]:
    """Return the tokens that the decoder read, without padding."""
    return [token for token in trace.target_tokens if not token.is_padding]
