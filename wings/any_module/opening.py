"""Opens a model in memory: one of the library transformers, or any other module with attention."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import torch
from torch import Tensor, nn

from headlight.model.library.answers import OutputHead
from headlight.model.library.attachment import CodeAttachment, is_rotated
from headlight.model.library.checks import Differences, check_openable
from headlight.model.library.decoder_modules import output_projection
from headlight.model.library.foreign_code import IncompleteError
from headlight.model.library.hub import LoadingError, first_line
from headlight.model.library.measuring import Parity
from headlight.model.library.observing import Observed, find_sites, observing, prepare
from headlight.model.library.piece_tokenizer import PieceTokenizer
from headlight.model.library.transformers_loading import (
    LONGEST,
    attach_somehow,
    compared_texts,
    head_of,
    known_tokens,
    longest_text,
)
from headlight.model.library.transformers_reader import TransformersReader
from headlight.model.reader import Reader
from headlight.model.transformer.trace import Kind
from headlight.wings.any_module.adapters import held_model, merge_adapters
from headlight.wings.any_module.called import Call, Called
from headlight.wings.any_module.module_reader import ModuleReader
from headlight.wings.any_module.own_tokens import OwnTokens
from headlight.wings.any_module.proof import find_layouts
from headlight.wings.any_module.trial import (
    ROWS,
    SOURCE,
    TARGET,
    check_padded,
    check_padding,
    misfit,
    together,
    trial_of,
)
from headlight.wings.any_module.unseen import PARTLY, unseen_parts
from headlight.wings.any_module.watch import nowhere

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

NEAR = 1e-4  # the most that joined heads may differ from an output projection's input


def open_model(
    model: nn.Module,
    tokenizer: Any = None,
    *,
    target_tokenizer: Any = None,
    call: Call | None = None,
    kinds: Mapping[str, Kind] | None = None,
    start: int | None = None,
    end: int | None = None,
    padding: int | None = None,
    max_tokens: int | None = None,
    title: str | None = None,
) -> Reader:
    """Open a model in memory, on its device, without copying its weights or changing it.

    A model of transformers with its tokenizer is read like one that `load_model` loads. Of a
    PeftModel, the model inside is opened, with its adapters merged into new layers. Any other
    module is called with ids (B, T), or with the ids of a source and a target, and returns logits
    (B, T, V) or (B, classes). If given, the function `call(model, ids)` or `call(model, source,
    target)` does this. `tokenizer` has `encode` and `decode`, or is a pair of these functions;
    without one, a text is numbers with spaces between them. `kinds` gives, by a module's name, its
    kind of attention if shapes do not show it. `start` and `end` are the ids around a target, and
    `padding` is the id that fills up short texts and that the model's own mask hides. Raises
    LoadingError, a ValueError that says what to do, for a model that cannot be opened.
    """
    try:
        check_openable(model)
        ours = merge_adapters(with_same_weights(held_model(model)))
        title = title or type(ours).__name__
        if call is None and is_of_transformers(ours) and hasattr(tokenizer, "all_special_ids"):
            return open_of_transformers(ours, tokenizer, title, max_tokens)
        call, two_sided = (call, sides_of(call, 1)) if call else call_of(ours)
        if padding is not None:
            check_padding(padding, ours)
        special = (start, end)
        tokens = OwnTokens.of(tokenizer, () if two_sided else special, padding)
        both = target_tokenizer or tokenizer
        target_tokens = OwnTokens.of(both, special, padding) if two_sided else tokens
        longest = max_tokens or longest_of(ours)
        called = Called(
            ours, call, tokens, target_tokens, two_sided, None, longest, start, end, padding
        )  # fmt: skip
        return open_module(called, title, kinds or {})
    except LoadingError:
        raise
    except ValueError as error:
        raise LoadingError(str(error)) from error


def with_same_weights(model: nn.Module) -> nn.Module:
    """Return a copy of a model's modules that shares the model's weights."""
    kept = {id(part): part for part in (*model.parameters(), *model.buffers())}
    try:
        return copy.deepcopy(model, kept)
    except Exception as error:  # any kind of error: a module may contain anything
        raise ValueError(
            f"{type(model).__name__} holds something besides its weights that cannot be copied: "
            f"{first_line(error)} Use `watch`, which copies nothing."
        ) from error


def is_of_transformers(model: nn.Module) -> TypeGuard[PreTrainedModel]:
    return any(part.__module__.startswith("transformers.") for part in type(model).__mro__)


def open_of_transformers(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    title: str,
    max_tokens: int | None,
) -> TransformersReader:
    """Return the reader of a model of transformers and its tokenizer."""
    model.set_attn_implementation("eager")
    longest = min(max_tokens or LONGEST, longest_text(model))
    tokens = PieceTokenizer(tokenizer, longest, known_tokens(model))
    model.config.architectures = [type(model).__name__]
    attached = attach_somehow(model, compared_texts(model, tokens), title)
    head = head_of(model.config, attached)
    if head == "next token" and model.get_output_embeddings() is None:
        head = None
    return TransformersReader(title, model, tokens, head, attached)


def call_of(model: nn.Module) -> tuple[Call, bool]:
    """Return a function that calls a model with ids, and whether it takes a source and a target."""
    if is_of_transformers(model):
        if model.config.is_encoder_decoder:
            return (lambda model, *ids: model(input_ids=ids[0], decoder_input_ids=ids[1])), True
        return (lambda model, ids: model(input_ids=ids)), False
    return (lambda model, *ids: model(*ids)), sides_of(model.forward, 0)


def sides_of(function: Callable, before: int) -> bool:
    """Return whether a function takes two texts after its first `before` arguments.

    Only arguments without a default are texts. Raises ValueError if there are more than two.
    """
    given = inspect.signature(function).parameters.values()
    needed = [part for part in given if part.default is part.empty]
    texts = [
        part for part in needed if part.kind in (part.POSITIONAL_ONLY, part.POSITIONAL_OR_KEYWORD)
    ]
    if len(texts) - before > 2:
        names = ", ".join(part.name for part in texts[before:])
        raise ValueError(
            f"It takes {names}, and only ids are known here: open it with call=, a function that "
            "takes the model and ids (B, T), of a source and a target if it has both, and returns "
            "its logits."
        )
    return len(texts) - before == 2


def longest_of(model: nn.Module) -> int:
    """Return how many tokens a model can read; a table of positions limits them."""
    tables = [
        part.num_embeddings
        for name, part in model.named_modules()
        if isinstance(part, nn.Embedding) and ("pos" in name.lower() or "wpe" in name.lower())
    ]
    return min([LONGEST, *tables])


@torch.inference_mode()
def open_module(called: Called, title: str, told: Mapping[str, Kind]) -> ModuleReader:
    """Return the reader of a module.

    `told` has the kinds of attention that the caller knows, by the name of a module. Raises
    ValueError if some attention of the module cannot be shown.
    """
    names = dict(called.model.named_modules())
    name_of = {module: name for name, module in names.items()}
    prepare(called.model)
    texts = trial_of(called)
    expected = called.logits(*texts)
    check_padded(called, texts, expected, title)
    layouts, passed = find_layouts(lambda ids: called.logits(*ids), texts, name_of)
    with observing(ROWS, layouts) as observed:
        outputs = called.logits(*texts)
    differences = Differences.between(outputs, expected).checked(title)
    if not observed.modules:
        raise ValueError(nowhere(title, passed, name_of))
    with observing(1, layouts) as alone:
        called.logits(*(ids[:1] for ids in texts))
    if unknown := [name for name in told if name not in names]:
        raise ValueError(
            f"{title} has no module {unknown[0]!r}: kinds= takes names of its modules."
        )
    kinds_told: dict[nn.Module, Kind] = {
        part: kind for name, kind in told.items() for part in names[name].modules()
    }
    try:
        sites, kinds = find_sites(observed, called.two_sided, SOURCE, TARGET, kinds_told)
    except IncompleteError as error:
        raise ValueError(misfit(title, observed, name_of, error)) from error
    apart = together(title, observed, alone, name_of)
    if unseen := sorted(unseen_parts(called, texts, sites, kinds, name_of)):
        raise ValueError(PARTLY.format(title=title, names=", ".join(unseen)))
    attached = CodeAttachment(
        replace(sites, rotated=is_rotated(called.model)),
        kinds,
        Parity(differences, apart),
        projections=not sites.joined and known_projections(called, texts, observed),
        outputs=outputs.size(-1),
        reference="the same calls unwatched, and from each text alone",
    )
    head = head_of_outputs(outputs, kinds, texts[-1])
    return ModuleReader(title, replace(called, head=head), attached)


def head_of_outputs(
    outputs: Tensor, kinds: Mapping[Kind, object], ids: Tensor
) -> OutputHead | None:
    """Return "next token", "class" or None: what the outputs predict, judged by their shape."""
    if "decoder" in kinds and outputs.dim() == 3 and outputs.shape[:2] == ids.shape:
        return "next token"
    return "class" if outputs.dim() == 2 and len(outputs) == ROWS else None


def known_projections(called: Called, texts: list[Tensor], observed: Observed) -> bool:
    """Return whether every layer's output projection, which reads the joined heads, is known."""
    given: dict[nn.Module, Tensor] = {}
    wanted: dict[nn.Module, list[Tensor]] = {}
    for module, record in zip(observed.modules, observed.records, strict=True):
        projection = output_projection(called.model, module)
        if projection is None or record.heads is None:
            return False
        if not isinstance(module, nn.MultiheadAttention):
            wanted.setdefault(projection, []).append(record.heads.transpose(1, 2).flatten(2))
    handles = [
        projection.register_forward_pre_hook(lambda part, args: given.update({part: args[0]}))
        for projection in wanted
    ]
    called.logits(*texts)
    for handle in handles:
        handle.remove()
    return all(
        projection in given
        and given[projection].shape == joined[-1].shape
        and torch.allclose(given[projection], joined[-1], atol=NEAR)
        for projection, joined in wanted.items()
    )
