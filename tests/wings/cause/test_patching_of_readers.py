"""Heads of models of the transformers library patched by their readers, and by hooks of torch."""

from contextlib import contextmanager

import pytest
import torch
from torch.testing import assert_close

from headlight.model.library.foreign_code import CodeSites
from headlight.model.transformer.attention import UNCHANGED
from headlight.model.transformer.trace import Run
from headlight.wings.cause import patching
from headlight.wings.cause.patching import (
    AnswerPair,
    Patch,
    Patched,
    patch_heads,
    patch_tokens,
    two_runs,
)

CLEAN, CHANGED = "I love my cat.", "I love love cat."
PARTS = ("heads", "weights", "value")
ROW = 3
# What joins the heads of a module again, and what their values come from.
OUTPUTS = {
    "GPT-2": "c_proj",
    "Llama": "o_proj",
    "BART": "out_proj",
    "Marian": "out_proj",
    "T5": "o",
}
VALUES = {"BART": "v_proj", "Marian": "v_proj", "T5": "v"}


@pytest.fixture(scope="module", params=OUTPUTS)
def named(request, load):
    """A name, its reader, and the runs over both texts."""
    reader = load(request.param)
    target = "J'aime mon chat." if "cross" in reader.shape.kinds else None
    traces = [reader.trace(text, target) for text in (CHANGED, CLEAN)]
    assert len({len(trace.source_tokens or trace.target_tokens) for trace in traces}) == 1
    return request.param, reader, two_runs(reader, *traces, furthest_apart(traces, ROW), PARTS)


def furthest_apart(traces, row):
    """The answers between which the gap is largest: a model that has learned nothing has little."""
    changed, clean = (trace.logits[0, row] for trace in traces)
    apart = clean - changed
    return AnswerPair(row, apart.argmax().item(), apart.argmin().item())


@pytest.fixture(autouse=True)
def any_gap(monkeypatch):
    monkeypatch.setattr(patching, "LEAST", 1e-4)


def module_at(reader, site):
    return next(one for one, sites in reader.attached.sites.modules.items() if site in sites)


def heads_of(values, head, count):
    """The part of (..., H * D) that is of a head."""
    width = values.size(-1) // count
    return values[..., head * width : (head + 1) * width]


@contextmanager
def hooked(module, hook, before):
    registered = (module.register_forward_pre_hook if before else module.register_forward_hook)(
        hook
    )
    try:
        yield
    finally:
        registered.remove()


@torch.inference_mode()
def by_hooks(reader, runs, module, head, count, *, before, token=slice(None)):
    """The share of a head if what goes into or comes out of a module is replaced by hooks."""
    kept = []

    def keep(_, given, made=None):
        kept.append((given[0] if before else made).clone())

    def replace(_, given, made=None):
        own = (given[0] if before else made).clone()
        heads_of(own, head, count)[:, token] = heads_of(kept[0], head, count)[:, token]
        return (own,) if before else own

    with hooked(module, keep, before):
        reader.rerun(runs.giving, Run())
    with hooked(module, replace, before):
        after = runs.answers.difference(reader.rerun(runs.into, Run()))
    return ((after - runs.before) / (runs.aim - runs.before)).item()


def test_outputs_are_put_in_as_by_hooks(named):
    name, reader, runs = named
    shares = dict(patch_heads(runs, "heads"))
    assert max(found.abs().max() for found in shares.values()) > 1e-3
    for site, found in shares.items():
        output = getattr(module_at(reader, site), OUTPUTS[name])
        expected = [
            by_hooks(reader, runs, output, head, len(found), before=True)
            for head in range(len(found))
        ]
        assert_close(found, torch.tensor(expected), atol=1e-3, rtol=1e-3)


def test_so_is_the_output_at_each_token(named):
    name, reader, runs = named
    site = runs.sites[-1]
    found = patch_tokens(runs, "heads", site, 1)
    output, count = getattr(module_at(reader, site), OUTPUTS[name]), runs.heads(site)
    expected = [
        by_hooks(reader, runs, output, 1, count, before=True, token=token)
        for token in range(len(found))
    ]
    assert_close(found, torch.tensor(expected), atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("named", VALUES, indirect=True)
def test_so_are_values_where_each_head_has_its_own(named):
    name, reader, runs = named
    for site, found in patch_heads(runs, "value"):
        values = getattr(module_at(reader, site), VALUES[name])
        expected = [
            by_hooks(reader, runs, values, head, len(found), before=False)
            for head in range(len(found))
        ]
        assert_close(found, torch.tensor(expected), atol=1e-3, rtol=1e-3)


def test_weights_and_values_are_the_output_and_all_outputs_are_the_other_run(named):
    _, _, runs = named
    for site in runs.sites:
        places = [(site, head, None) for head in range(runs.heads(site))]
        both, output = (runs.patched(parts, places) for parts in (["weights", "value"], ["heads"]))
        assert_close(both, output, atol=1e-3, rtol=1e-3)
    assert runs.patched_everywhere(["heads"]) == pytest.approx(1, abs=1e-3)
    for part in PARTS:
        assert runs.patched_into_itself([part]) == pytest.approx(0, abs=1e-4)


def test_the_embedding_of_the_token_read_last_is_no_heads(load):
    reader = load("GPT-2")
    traces = [reader.trace(text) for text in ("I love my love", "I love my cat")]
    row = len(traces[0].target_tokens) - 1
    assert traces[0].target_tokens[row].id != traces[1].target_tokens[row].id
    runs = two_runs(reader, *traces, furthest_apart(traces, row), PARTS)
    assert abs(runs.patched_everywhere(["heads"]) - 1) > 1e-2


def test_a_model_that_keeps_its_values_to_itself_says_that_it_cannot(transformers_folders):
    patch = Patch("heads", torch.zeros(1, 4, 1, 4), torch.ones(1, 4, 1, dtype=torch.bool))
    with pytest.raises(ValueError, match="They cannot be replaced"):
        CodeSites({}, {}).check(Patched(UNCHANGED, [patch]))
