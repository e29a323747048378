"""Every step of a decoding, against the same text read in one pass."""

import pytest
import torch

from headlight.model.decoding.prefixes import NEVER_WRITTEN
from headlight.model.decoding.steps import stack_rows
from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import CellEdit, Edits
from headlight.model.tokens import END_ID, START_ID
from headlight.model.trace import Trace
from headlight.model.transformer.trace import KINDS, Run

SOURCE = "The old house is on the hill."
EDITS = Edits(
    masks={("window", "decoder"): (2,)},
    cells=(CellEdit("cross", 2, 1, opened=False, head=1), CellEdit("cross", 0, 0, opened=False)),
    gates={("cross", 0, 1): 0.0, ("decoder", 1, 2): 0.5},
)
OPEN = Edits(off=("look-ahead",))
STRATEGIES = [
    Strategy(),
    Strategy("beam", beam_size=4),
    Strategy("beam", beam_size=3, length_penalty=2.0),
    Strategy("sample", temperature=3.0, top_k=20, seed=4),
]


def read_at_once(translator, steps, edits):
    """Logits (T, V) and trace of one pass over what the steps read."""
    trace = Trace()
    target_ids = torch.tensor([[START_ID, *(step.token.id for step in steps[:-1])]])
    source_ids = translator.ids(translator.read(SOURCE))
    logits = translator.model(source_ids, target_ids, Run(edits, trace))
    return logits[0], trace


def expect_one_pass(translator, steps, edits):
    """The steps' probabilities, weights and masks are those of one pass over their text."""
    logits, trace = read_at_once(translator, steps, edits)
    logits = logits.log_softmax(-1)
    logits[:, NEVER_WRITTEN] = -torch.inf
    result = torch.stack([step.log_probabilities for step in steps])
    torch.testing.assert_close(result, logits, atol=1e-5, rtol=1e-5)  # float32 log-probabilities
    for kind in ("decoder", "cross"):
        weights = stack_rows([step.weights for step in steps], kind)
        torch.testing.assert_close(weights, trace.weights(kind), atol=1e-5, rtol=0)
        visible = stack_rows([step.visible for step in steps], kind)
        for layer, heads in enumerate(visible):
            record = next(r for s, r in trace.attention.items() if s == (kind, layer))
            assert torch.equal(heads, record.masked_scores[0].isfinite())


@pytest.mark.parametrize("edits", [Edits(), EDITS], ids=["as trained", "edited"])
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.strategy)
def test_the_cache_shows_what_one_pass_shows(strategy, edits, translator):
    sites = edits.at_sites(translator.shape, 24)
    decoding = translator.write(SOURCE, strategy, longest=14, edits=sites)
    assert [step.token for step in decoding] == decoding.writing.target_tokens
    expect_one_pass(translator, decoding.steps, sites)
    total = sum(step.log_probability for step in decoding)
    assert decoding.writing.score == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("edits", [Edits(), EDITS], ids=["as trained", "edited"])
def test_every_node_of_a_beam_has_the_attention_of_its_own_text(edits, translator):
    sites = edits.at_sites(translator.shape, 24)
    decoding = translator.write(SOURCE, Strategy("beam"), longest=9, edits=sites)
    seen = 0
    for length, nodes in enumerate(decoding.tree):
        for position in range(0, len(nodes), 3):
            steps = decoding.steps_to(decoding.path_to(length, position))
            assert len(steps) == length + 1
            total = sum(step.log_probability for step in steps)
            assert nodes[position].log_probability == pytest.approx(total, abs=1e-4)
            expect_one_pass(translator, steps, sites)
            seen += not nodes[position].kept
    assert seen > 5


def test_with_look_ahead_open_each_step_is_that_of_its_prefix(translator):
    sites = OPEN.at_sites(translator.shape, 24)
    decoding = translator.write(SOURCE, longest=6, edits=sites)
    for length in range(1, len(decoding) + 1):
        steps = decoding.steps[:length]
        logits, trace = read_at_once(translator, steps, sites)
        likeliest = steps[-1].log_probabilities.argmax()
        assert likeliest == logits[-1].index_fill(0, torch.tensor(NEVER_WRITTEN), -1e9).argmax()
        for site, weights in steps[-1].weights.items():
            expected = trace.attention[site].weights[0, :, -1]
            torch.testing.assert_close(weights, expected, atol=1e-5, rtol=0)


def test_a_tree_holds_what_was_kept_and_what_was_dropped(translator):
    decoding = translator.write(SOURCE, Strategy("beam", beam_size=3))
    for before, nodes in zip([None, *decoding.tree], decoding.tree, strict=False):
        assert len(nodes) == 6
        assert nodes == sorted(nodes, key=lambda node: -node.log_probability)
        assert [node for node in nodes[:3] if node.ended] == [
            n for n in nodes if n.kept and n.ended
        ]
        live = [node for node in nodes if not node.ended]
        expected = [] if nodes is decoding.tree[-1] else live[:3]  # none can score better any more
        assert [node for node in live if node.kept] == expected
        for node in nodes:
            if before is not None:
                parent = before[node.parent]
                assert parent.kept
                assert not parent.ended
                assert node.text.startswith(parent.text)
                assert node.log_probability < parent.log_probability


def test_a_beam_returns_the_best_score_of_its_finished_texts(translator):
    for penalty in (0.0, 1.0, 3.0):
        strategy = Strategy("beam", beam_size=5, length_penalty=penalty)
        decoding = translator.write(SOURCE, strategy)
        last = decoding.tree[-1]
        ends = [n for nodes in decoding.tree for n in nodes if n.kept and n.token.id == END_ID]
        ends += [node for node in last if node.kept and node.token.id != END_ID]
        best = max(ends, key=lambda node: node.score)
        assert best.text == decoding.writing.text
        assert best.log_probability == pytest.approx(decoding.writing.score, abs=1e-5)


def test_the_top_is_ordered_and_its_probabilities_are_the_models(translator):
    step = translator.write(SOURCE)[2]
    top = step.top(10)
    probabilities = [candidate.probability for candidate in top]
    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities == pytest.approx(
        step.log_probabilities.exp().sort(descending=True).values[:10].tolist()
    )
    assert top[0].token == step.token
    assert top[0].drawn is None
    assert [candidate.rank for candidate in top] == list(range(1, 11))
    assert len({candidate.token.id for candidate in top}) == 10


def test_the_candidates_are_the_top_and_the_token_that_was_written(translator):
    plain = translator.write(SOURCE)
    (last,) = plain[1].top(50)[-1:]
    forced = translator.write(SOURCE, forced=[plain[0].token.id, last.token.id])[1]
    assert forced.candidates(3) == [*forced.top(3), forced.candidate(last.token.id)]
    assert plain[1].candidates(3) == plain[1].top(3)


def test_a_sample_shows_what_it_was_drawn_from(translator):
    strategy = Strategy("sample", temperature=4.0, top_k=3, seed=1)
    decoding = translator.write(SOURCE, strategy)
    for step in decoding:
        top = step.top(6)
        assert sum(candidate.drawn for candidate in top) == pytest.approx(1, abs=1e-5)
        assert [candidate.drawn > 0 for candidate in top] == [True] * 3 + [False] * 3
        ratio = (top[0].probability / top[1].probability) ** (1 / 4)
        assert top[0].drawn / top[1].drawn == pytest.approx(ratio, rel=1e-4)
        assert step.token in [candidate.token for candidate in top[:3]]


def test_a_forced_beginning_is_gone_on_from(translator):
    plain = translator.write(SOURCE)
    own = [step.token.id for step in plain][:3]
    assert translator.translate(SOURCE, prefix=own) == plain.writing
    other = plain[2].top(2)[1].token
    branch = translator.write(SOURCE, forced=[*own[:2], other.id])
    assert [step.token.id for step in branch][:3] == [*own[:2], other.id]
    assert branch.writing.text != plain.writing.text
    for ours, theirs in zip(branch.steps[:3], plain.steps[:3], strict=True):
        torch.testing.assert_close(ours.log_probabilities, theirs.log_probabilities)
        for site in ours.weights:
            torch.testing.assert_close(ours.weights[site], theirs.weights[site])
    expect_one_pass(translator, branch.steps, {})


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.strategy)
def test_every_strategy_goes_on_from_a_text(strategy, translator):
    forced = [token.id for token in translator.begin("La maison")]
    decoding = translator.write(SOURCE, strategy, longest=12, forced=forced)
    assert decoding.writing.text.startswith("La maison")
    options = {"prefix": "La maison", "max_new_tokens": 12, "strategy": strategy}
    assert translator.translate(SOURCE, **options) == decoding.writing


def test_a_forced_end_ends(translator):
    translation = translator.translate(SOURCE, prefix=[END_ID])
    assert (translation.text, translation.finished) == ("", True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prefix": [5] * 9, "max_new_tokens": 8}, "9 tokens, but the text may have only 8"),
        ({"prefix": [999_999]}, "cannot write a token with the id 999999"),
        ({"prefix": [START_ID]}, "cannot write a token with the id 2"),
        ({"prefix": [-1]}, "id -1"),
        ({"prefix": "漢"}, "no token for “漢”"),
        ({"strategy": "sample", "temperature": 0.0}, "decode greedily"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(options, message, translator):
    with pytest.raises(ValueError, match=message):
        translator.translate(SOURCE, **options)


def test_stopping_at_the_limit_is_told_from_stopping_at_the_end(translator):
    assert translator.write(SOURCE).writing.finished
    short = translator.write(SOURCE, longest=3)
    assert not short.writing.finished
    assert len(short) == 3


def test_a_limit_of_nothing_has_no_steps(translator):
    assert translator.write(SOURCE, longest=0).steps == []


def test_steps_are_of_the_decoder_only(translator):
    kinds = {site.kind for site in translator.write(SOURCE)[0].weights}
    assert kinds == set(KINDS) - {"encoder"}
