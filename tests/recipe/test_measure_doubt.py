"""Whether the signs of doubt warn of nonsense, and not of everyday sentences."""

import math
from pathlib import Path

import pytest

from recipe import measure_doubt

HERE = Path(__file__).parent
MOST_WRONG = 0.05  # of everyday sentences, that may be warned of
FEWEST_RIGHT = 0.8  # of nonsense, that must be


@pytest.fixture(scope="module")
def cases_of(shipped):
    """The cases of the sentences in a file next to this one."""

    def read(name):
        lines = (HERE / name).read_text(encoding="utf-8").splitlines()
        return measure_doubt.cases(shipped, lines)

    return read


def test_few_everyday_sentences_are_warned_of(cases_of):
    assert measure_doubt.warned(cases_of("everyday.txt")) <= MOST_WRONG


def test_most_nonsense_is_warned_of(cases_of):
    assert measure_doubt.warned(cases_of("nonsense.txt")) >= FEWEST_RIGHT


def test_the_signs_are_of_the_very_translation(shipped):
    (case,) = measure_doubt.cases(shipped, ["The neural network learns attention."])
    made = shipped.translate(case.sentence)
    assert case.translation == made.text
    assert case.mean == pytest.approx(made.score / len(made.target_tokens), abs=1e-4)
    assert math.fsum(made.log_probabilities) == pytest.approx(made.score, abs=1e-4)


def test_the_thresholds_warn_of_the_share_that_is_allowed():
    good = [
        measure_doubt.Case("", "", frozenset(), mean=-number / 100, pieces=number)
        for number in range(100)
    ]
    least, most = measure_doubt.thresholds(good)
    assert sum(case.mean < least for case in good) == 2
    assert sum(case.pieces > most for case in good) == 2


def test_the_command_reports_good_bad_and_nonsense(tmp_path, monkeypatch, capsys):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("I love my cat.\tJ'aime mon chat.\nWho is that?\tx\n", encoding="utf-8")
    nonsense = HERE / "nonsense.txt"
    monkeypatch.setattr(
        "sys.argv", ["measure_doubt", "--pairs", str(pairs), "--nonsense", str(nonsense)]
    )
    measure_doubt.main()
    said = capsys.readouterr().out
    assert "good, chrF from 50: 1 sentences, warned of 0.0% (no sign)" in said
    assert "bad, chrF below 30: 1 sentences" in said
    assert "nonsense: 40 sentences" in said
    assert "LEAST_SURE = " in said
