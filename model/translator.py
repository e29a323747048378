"""Loads translators, and runs them on texts, for pages and notebooks."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from headlight.model.checkpoint import load_checkpoint
from headlight.model.continuer import Continuer, read_of
from headlight.model.decoding.recording import GreedySteps, RecordedPrefixes
from headlight.model.decoding.search import search
from headlight.model.decoding.steps import Decoding, Translation, Writing
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits.tensors import batch_of
from headlight.model.memory_layout import best_device, lay_out, pack
from headlight.model.own_reader import OwnReader, objective_of
from headlight.model.questions import Objective, Request
from headlight.model.shape import Ability
from headlight.model.tokenizer import Tokenizer
from headlight.model.tokens import END_ID, SPECIAL_TOKENS, START_ID, Token
from headlight.model.trace import Trace
from headlight.model.transformer.masks import look_ahead_mask
from headlight.model.transformer.trace import Run, RunEdits, Site
from headlight.model.transformer.transformer import Transformer

PRETRAINED = Path(__file__).parent / "pretrained"
MISSING: Mapping[Ability, str] = {
    "read a pair": "This model translates one text, and cannot read a second one with it.",
    "mask words": "This model was trained to translate, and has no token that hides a word.",
}


class Translator(OwnReader):
    """A reader that translates with an encoder-decoder; threads may share it.

    Its methods are described in model/reader.py.
    """

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, *, title: str = "Translator"
    ) -> None:
        super().__init__(model, tokenizer, title, MISSING)

    @property
    def default_new_tokens(self) -> int:
        """The most tokens that are written, unless another limit is given."""
        return min(64, self.max_tokens)

    def read(self, source: str, pad_to: int | None = None) -> list[Token]:
        """Return the encoder's input: the sentence, cut at `max_tokens`, and the end token.

        `pad_to` appends padding until there are that many tokens. Raises ValueError if the sentence
        has nothing to read, or if `pad_to` exceeds the model's positions.
        """
        self.refuse_padding(pad_to)
        tokens = self.tokenizer.encode(source)[: self.max_tokens]
        if not tokens:
            raise ValueError("There is nothing to translate: type a sentence.")
        tokens.append(self.tokenizer.special_token(END_ID, tokens[-1].end))
        return self.pad(tokens, pad_to)

    def translate(
        self,
        source: str,
        *,
        strategy: str | Strategy = "greedy",
        max_new_tokens: int | None = None,
        prefix: str | Sequence[int] = "",
        edits: RunEdits | None = None,
        pad_to: int | None = None,
        **options: float,
    ) -> Writing:
        """Translate a sentence by a Strategy, or by its name with `options` such as beam_size=4.

        The translation begins with `prefix`, a text or ids. Raises ValueError for a sentence with
        nothing to read, a prefix that cannot be written, and options that do not exist or are out
        of range; warns if the sentence is cut.
        """
        named = strategy if isinstance(strategy, Strategy) else Strategy(strategy)
        if unused := options.keys() - {*named.method.options}:
            raise ValueError(
                f'The strategy "{named.strategy}" has no option {min(unused)}: choose a strategy '
                'that has it, such as strategy="beam" for beam_size.'
            )
        chosen = replace(named, **options)
        if isinstance(prefix, str):
            prefix = [token.id for token in self.begin(prefix)]
        request = Request(source, pad_to=pad_to, edits=edits)
        return self.write_request(request, chosen, longest=max_new_tokens, forced=prefix).writing

    def batch_of(self, text: Request, strategy: Strategy) -> Hashable | None:
        self.read(text.text, text.pad_to)
        return self._batch_of(text.edits, strategy)

    def _batch_of(self, edits: RunEdits | None, strategy: Strategy) -> Hashable | None:
        is_greedy = strategy.width == 1 and not strategy.draws
        can_join = is_greedy and self.model.config.look_ahead_mask
        return batch_of(edits or {}) if can_join else None

    @torch.inference_mode()
    def write_together(
        self,
        texts: Sequence[Request],
        strategy: Strategy = Strategy(),
        *,
        longest: int | None = None,
        forced: Sequence[int] = (),
    ) -> Iterator[Decoding]:
        """Yield what `write` returns for each of several texts; they are decoded in one batch."""
        read = [self.read(text.text, text.pad_to) for text in texts]
        edits = [text.edits or {} for text in texts]
        prefixes = RecordedPrefixes(self.model, self.padded_ids(read), edits)
        limit = min(self.default_new_tokens if longest is None else longest, self.max_tokens)
        is_greedy = self._batch_of(edits[0], strategy) is not None
        steps = None if is_greedy else []
        batch = search(prefixes, strategy, max_new_tokens=limit, forced=forced, record=steps)
        start = self.tokenizer.special_token(START_ID)
        targets = [self.tokenizer.decode_tokens(decoded.written) for decoded in batch]
        traces = [
            Trace(tokens, [start, *target][: len(decoded.rows)])
            for tokens, (_, target), decoded in zip(read, targets, batch, strict=True)
        ]
        if is_greedy or (prefixes.cache is not None and not any(edits)):
            prefixes.record(batch, traces)
        for text, trace, decoded, (written, target) in zip(
            texts, traces, batch, targets, strict=True
        ):
            how = decoded.log_probability, decoded.finished, decoded.log_probabilities
            writing = Translation(text.text, written, trace.source_tokens, target, *how)
            yield Decoding(
                writing,
                strategy,
                GreedySteps(trace, decoded, prefixes.banned) if steps is None else steps,
                begun=[start],
                ends={END_ID},
                append=self._append,
                trace=trace if trace.attention and decoded.finished and not text.edits else None,
            )

    def tokenized(self, request: Request) -> Trace:
        """Return a trace with the tokens that encoder and decoder read.

        The decoder reads the start token and then the target, so its last row predicts the end.
        """
        self.refuse_others(request)
        if request.target is None:
            (decoding,) = self.write_together([request])
            return self.tokenized(replace(request, target=decoding.writing))
        written = self.written(request.target)
        read = [self.tokenizer.special_token(START_ID), *written[: self.max_tokens]]
        tokens = self.read(request.text, request.pad_to), self.pad(read, request.pad_to)
        return Trace(*tokens, finished=request.ends and len(written) <= self.max_tokens)

    @torch.inference_mode()
    def read_together(self, traces: Sequence[Trace], run: Run) -> None:
        source_ids = self.padded_ids([trace.source_tokens for trace in traces])
        target_ids = self.padded_ids([trace.target_tokens for trace in traces])
        memory = self.model.encode(source_ids, run)
        masks = self.model.target_mask(target_ids), self.model.source_mask(source_ids)
        self.model.decoder(target_ids, memory, *masks, run)

    def rerun(self, trace: Trace, run: Run) -> Tensor:
        return self.model(self.ids(trace.source_tokens), self.ids(trace.target_tokens), run)

    @torch.inference_mode()
    def trace_ids(self, ids: Sequence[int], edits: RunEdits | None = None) -> Trace:
        _, tokens = self.tokenizer.decode_tokens(ids)
        start, end = map(self.tokenizer.special_token, (START_ID, END_ID))
        trace = Trace([*tokens, end], [start, *tokens])
        self.record(trace, edits)
        return trace

    def objective(
        self, trace: Trace, site: Site | None = None, query: int | None = None
    ) -> Objective:
        """Return the objective of a trace; see `choose_objective`."""
        return choose_objective(trace, site, query)

    def masks(self, trace: Trace) -> tuple[Tensor, Tensor, Tensor]:
        """Return the model's own masks for the tokens of a trace.

        They are the source's padding mask (1, S), the look-ahead mask (T, T), and the look-ahead
        mask combined with the target's padding mask (T, T).
        """
        source_ids, target_ids = self.ids(trace.source_tokens), self.ids(trace.target_tokens)
        return (
            self.model.source_mask(source_ids)[0, 0],
            look_ahead_mask(target_ids.size(1))[0, 0],
            self.model.target_mask(target_ids)[0, 0],
        )


def choose_objective(trace: Trace, site: Site | None = None, query: int | None = None) -> Objective:
    """Return the objective: the token written after a query of the decoder.

    For a query of the encoder or of padding, or without a query, it is the whole target.
    """
    following = read_of(trace)[1:]
    if trace.finished:
        following.append(Token(END_ID, SPECIAL_TOKENS[END_ID], 0, 0))
    is_read = site is not None and site.kind != "encoder"
    if is_read and query is not None and query < len(following):
        rows, what = (query,), "the token written after this query"
    else:
        rows, what = tuple(range(len(following))), "the whole target"
    return objective_of(what, following, rows)


def shipped_models() -> list[str]:
    return sorted(path.parent.name for path in PRETRAINED.glob("*/config.json"))


def reader_of(model: Transformer, tokenizer: Tokenizer, title: str | None = None) -> OwnReader:
    """Return a model's reader: a Translator, or a Continuer for a model with only a decoder."""
    named = {} if title is None else {"title": title}
    return (Translator if model.config.encoder_layers else Continuer)(model, tokenizer, **named)


def load(name: str | Path) -> OwnReader:
    """Load a shipped model by its name, such as "en-fr", or a checkpoint folder.

    The model is loaded onto a GPU if there is one. It is a Translator, or a Continuer for a model
    with only a decoder. Raises FileNotFoundError or ValueError if there is no usable checkpoint.
    """
    shipped = shipped_models()
    folder = PRETRAINED / name if str(name) in shipped else Path(name).expanduser()
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{name} is neither a shipped model ({', '.join(shipped)}) nor a folder."
        )
    model, tokenizer = load_checkpoint(folder)
    return reader_of(pack(lay_out(model.to(best_device()))), tokenizer, folder.name)


def load_translator(name: str | Path) -> Translator:
    """Load a model as `load` does; also raises ValueError if it does not translate."""
    model = load(name)
    if not isinstance(model, Translator):
        raise ValueError(f"{name} only continues texts: name a model that translates.")
    return model
