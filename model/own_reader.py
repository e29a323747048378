"""The base class of all readers of this project's Transformer: its tokens and its stream."""

from collections.abc import Iterable, Mapping, Sequence

import torch
from torch import Tensor

from headlight.model.decoding.steps import Writing
from headlight.model.edits import NamedMask
from headlight.model.questions import Objective, Question, Request
from headlight.model.reader import Reader
from headlight.model.shape import Ability, shape_of
from headlight.model.stream import DecoderStream, attention_at, output_maps, stream_of
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import BYTES, PAD_ID, SPECIAL_TOKENS, Token, pad, token_ids
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, RunEdits, Site
from headlight.model.transformer.transformer import Transformer

POST_NORM: Mapping[Ability, str] = {
    "add up logits": "The logits of a post-norm model are no plain sum over its parts, because "
    "every block ends with a norm of the whole sum so far. Choose a pre-norm model, such as a "
    "shipped one."
}


class OwnReader(Reader):
    """The base of Translator and Continuer: all that is the same with and without an encoder."""

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, title: str, missing: Mapping[Ability, str]
    ) -> None:
        self.model = model.eval()
        self.tokenizer = tokenizer
        self.title = title
        self.missing = {**(POST_NORM if model.config.norm == "post" else {}), **missing}
        self.shape = shape_of(model.config)

    @property
    def max_tokens(self) -> int:
        """The most tokens of a text that the model can read, besides one special token."""
        return self.model.config.max_positions - 1

    def is_cut(self, text: str, second: str | None = None) -> bool:
        return len(self.tokenizer.encode(text)) > self.max_tokens

    def begin(self, text: str) -> list[Token]:
        """Return the tokens of a text that writing should begin with.

        Raises ValueError if the model has no token for part of the text.
        """
        tokens = self.tokenizer.encode(text)
        unknown = [token.text for token in tokens if token.is_unknown]
        if unknown:
            raise ValueError(f"The model has no token for “{' '.join(unknown)}”.")
        return tokens

    def _append(self, text: str, _: Sequence[Token], index: int) -> tuple[str, Token]:
        return self.tokenizer.append(text, index)

    def label(self, trace: Trace, question: Question, index: int) -> str:
        return self.tokenizer.append("", index)[1].text

    def configured_masks(self, site: Site) -> tuple[NamedMask, ...]:
        return super().configured_masks(site) if self.model.config.look_ahead_mask else ()

    def heads_to_stream(self, site: Site) -> Tensor:
        """Return the map from each head's output to the stream: (H, D, d_model)."""
        return output_maps(attention_at(self.model, site))

    @torch.inference_mode()
    def streamed(self, trace: Trace, edits: RunEdits) -> Trace:
        """Return a trace with the residual stream; if the trace lacks it, run the model again."""
        if trace.residual:
            return trace
        streamed = Trace(trace.source_tokens, trace.target_tokens, finished=trace.finished)
        self.record(streamed, edits)
        return streamed

    @property
    def vocabulary(self) -> Sequence[int]:
        """The ids of all tokens except special ones and single bytes."""
        vocabulary = self.tokenizer.backend.get_vocab()
        return sorted(i for name, i in vocabulary.items() if name not in (*SPECIAL_TOKENS, *BYTES))

    @property
    def unembedding(self) -> Tensor:
        """The output layer (V, d_model), which follows the decoder's last norm."""
        return self.model.output.weight.detach()

    def read_out(self, states: Tensor) -> Tensor:
        """Return the logits (..., V) of states (..., d_model) of the decoder's stream."""
        return self.model.output(self.model.decoder.norm(states))

    @torch.inference_mode()
    def decoder_stream(self, trace: Trace, edits: RunEdits, recorded: Trace) -> DecoderStream:
        """Run the model again; return the decoder's stream, part by part; see `Reader`.

        Raises ValueError for a post-norm model.
        """
        if "add up logits" in self.missing:
            raise ValueError(self.missing["add up logits"])
        self.rerun(trace, Run(edits, recorded))
        return stream_of(self.model, recorded)

    def refuse_others(self, request: Request) -> None:
        """Raise ValueError for a second text, or for words to mask: these models read neither."""
        self.second_text(request.second)
        if request.masked:
            raise ValueError(self.missing["mask words"])

    def written(self, target: str | Writing) -> Sequence[Token]:
        """Return the tokens of a target, without its end token."""
        if isinstance(target, Writing):
            return target.read_by(self.tokenizer.decode_tokens)
        return self.tokenizer.encode(target)

    def pad(self, tokens: list[Token], length: int | None) -> list[Token]:
        """Return tokens with padding appended until there are `length`."""
        padding = self.tokenizer.special_token(PAD_ID, tokens[-1].end)
        return tokens + [padding] * ((length or 0) - len(tokens))

    def refuse_padding(self, pad_to: int | None) -> None:
        """Raise ValueError for padding beyond the model's positions."""
        if pad_to is not None and pad_to > self.model.config.max_positions:
            raise ValueError(
                f"Cannot pad to {pad_to} tokens: the model takes {self.model.config.max_positions}."
            )

    def ids(self, tokens: Sequence[Token]) -> Tensor:
        """Tokens -> (1, T) ids on the model's device."""
        return token_ids(tokens, self.model.device)

    def padded_ids(self, lines: Sequence[Sequence[Token]]) -> Tensor:
        """Tokens of several texts -> (B, T) ids on the model's device."""
        return pad([[token.id for token in tokens] for tokens in lines]).to(self.model.device)


def objective_of(what: str, following: Sequence[Token], rows: Iterable[int]) -> Objective:
    """Return the objective `what`: the log-probability of the tokens that follow some rows.

    `following` has the token that follows each row.
    """
    tokens = {row: following[row] for row in rows}
    ids = {row: token.id for row, token in tokens.items()}
    return Objective.of(what, ids, [token.text for token in tokens.values()])
