import pytest
import torch
from torch.testing import assert_close

from headlight.model.edits import Edits
from headlight.model.tokens import END_ID, START_ID
from headlight.model.transformer.attention import UNCHANGED
from headlight.model.transformer.trace import Run, Site
from headlight.wings.cause import patching
from headlight.wings.cause.patching import (
    AnswerPair,
    Patch,
    Patched,
    check_tokens,
    patch_heads,
    patch_tokens,
    patches_at,
    two_runs,
)
from tests.model.insight.recording import SITES, SOURCE, TARGET, record, tokens

PARTS = ("heads", "weights", "value")
ANSWERS = AnswerPair(row=2, clean=16, changed=9)
GATES = Edits(gates={("decoder", 0, 1): 0.0, ("cross", 1, 2): 0.5})
OTHER = tokens(4, 5, 11, 7, 8, END_ID)


@pytest.fixture(scope="module")
def changed(model):
    return record(model, source=OTHER)


@pytest.fixture(scope="module", params=["as trained", "with gates"])
def runs(request, reader, trace, changed):
    edits = GATES.at_sites(reader.shape, 10) if request.param == "with gates" else None
    return two_runs(reader, changed, trace, ANSWERS, PARTS, edits)


def by_hand(runs, site, head, part):
    """The share of a head whose whole tensor is replaced at once, in a run of its own."""
    given = runs.giving.kept[part][site]
    where = torch.zeros(1, given.size(1), given.size(2), dtype=torch.bool)
    where[0, head] = True
    edit = Patched(runs.edits.get(site, UNCHANGED), [Patch(part, given, where)])
    with torch.inference_mode():
        logits = runs.reader.rerun(runs.into, Run({**runs.edits, site: edit}))[0, ANSWERS.row]
    after = logits[ANSWERS.clean] - logits[ANSWERS.changed]
    return ((after - runs.before) / (runs.aim - runs.before)).item()


def test_the_runs_are_those_of_the_two_texts_up_to_the_answers(reader, trace, changed):
    runs = two_runs(reader, changed, trace, ANSWERS, PARTS)
    for run, found in ((changed, runs.before), (trace, runs.aim)):
        logits = run.logits[0, 2]
        assert found == pytest.approx((logits[16] - logits[9]).item(), abs=1e-5)
    assert len(runs.into.target_tokens) == 3


@pytest.mark.parametrize("part", PARTS)
def test_a_run_patched_into_itself_changes_nothing(runs, part):
    assert runs.patched_into_itself([part]) == pytest.approx(0, abs=1e-5)


def test_the_outputs_of_all_heads_make_it_the_other_run(runs):
    assert runs.patched_everywhere(["heads"]) == pytest.approx(1, abs=1e-4)


def test_so_do_all_weights_and_values_together_but_not_alone(runs):
    assert runs.patched_everywhere(["weights", "value"]) == pytest.approx(1, abs=1e-4)
    assert runs.patched_everywhere(["weights"]) != pytest.approx(1, abs=1e-2)


def test_the_outputs_of_the_decoder_alone_do_as_well_since_it_reads_the_same(runs):
    sites = [site for site in SITES if site.kind != "encoder"]
    where = {site: torch.ones(1, runs.heads(site), 1, dtype=torch.bool) for site in sites}
    patches = patching.patches_of(runs.giving, ["heads"], where)
    assert runs.shares(patches).item() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("part", PARTS)
def test_heads_side_by_side_bring_what_each_brings_in_a_run_of_its_own(runs, part):
    result = dict(patch_heads(runs, part))
    assert {*result} == {*SITES}
    expected = {
        site: torch.tensor([by_hand(runs, site, head, part) for head in range(len(shares))])
        for site, shares in result.items()
    }
    assert max(shares.abs().max() for shares in result.values()) > 1e-3
    for site, shares in result.items():
        assert_close(shares, expected[site], atol=1e-4, rtol=0)


def test_one_at_a_time_they_bring_the_same(runs, monkeypatch):
    together = torch.cat([shares for _, shares in patch_heads(runs, "heads")])
    monkeypatch.setattr(patching, "rows_at_once", lambda trace, most: 1)
    alone = torch.cat([shares for _, shares in patch_heads(runs, "heads")])
    assert_close(alone, together, atol=1e-5, rtol=0)


@pytest.mark.parametrize("site", SITES)
def test_weights_and_values_of_a_head_bring_what_its_output_brings(runs, site):
    places = [(site, head, None) for head in range(runs.heads(site))]
    both, output = (runs.patched(parts, places) for parts in (["weights", "value"], ["heads"]))
    assert_close(both, output, atol=1e-4, rtol=0)


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("site", SITES)
def test_a_token_is_patched_alone_and_all_of_them_are_the_head(runs, site, part):
    result = patch_tokens(runs, part, site, 1)
    count = len(runs.tokens(part, site))
    assert result.shape == (count,)
    given = runs.giving.kept[part][site]
    for token in range(count):
        patches = patches_at(runs, [part], [(site, 1, token)])
        (patch,) = patches[site]
        assert patch.where[0, 1].tolist() == [position == token for position in range(count)]
        assert patch.where.sum() == 1
        assert runs.shares(patches).item() == pytest.approx(result[token].item(), abs=1e-4)
    where = torch.zeros(1, runs.heads(site), count, dtype=torch.bool)
    where[0, 1] = True
    whole = runs.shares({site: (Patch(part, given, where),)})
    assert_close(whole, runs.patched([part], [(site, 1, None)]), atol=1e-5, rtol=0)


def test_the_last_query_alone_counts_in_the_last_layers_of_the_decoder(runs):
    shares = patch_tokens(runs, "heads", Site("cross", 1), 0)
    assert_close(shares[:-1], torch.zeros(2), atol=1e-5, rtol=0)
    whole = runs.patched(["heads"], [(Site("cross", 1), 0, None)])
    assert_close(shares[-1:], whole, atol=1e-5, rtol=0)


def test_the_way_back_closes_the_same_gap(reader, trace, changed):
    there, back = (
        two_runs(reader, *pair, ANSWERS, PARTS) for pair in ((changed, trace), (trace, changed))
    )
    assert (there.before, there.aim) == (back.aim, back.before)
    assert back.patched_everywhere(["heads"]) == pytest.approx(1, abs=1e-4)


def test_without_a_gap_there_is_no_share(reader, trace, changed):
    same = two_runs(reader, changed, trace, AnswerPair(2, 16, 16), PARTS)
    with pytest.raises(ValueError, match="equally far apart after both texts"):
        list(patch_heads(same, "heads"))
    with pytest.raises(ValueError, match="equally far apart"):
        same.patched_everywhere(["heads"])


def test_the_edits_in_force_are_left_as_they_were(reader, trace, changed):
    edits = GATES.at_sites(reader.shape, 10)
    before = dict(edits)
    runs = two_runs(reader, changed, trace, ANSWERS, PARTS, edits)
    list(patch_heads(runs, "heads"))
    assert edits == before


@pytest.mark.parametrize(
    ("source", "target", "why"),
    [
        (tokens(4, 5, 6, 7, END_ID), TARGET, "is 6 tokens and the changed one 5"),
        (SOURCE, TARGET, "the same tokens"),
        (OTHER, tokens(START_ID, 14), "exchange a word"),
    ],
)
def test_texts_without_counterparts_are_refused_in_a_sentence(model, trace, source, target, why):
    with pytest.raises(ValueError, match=why):
        check_tokens(trace, record(model, source=source, target=target))
