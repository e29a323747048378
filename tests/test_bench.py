import json
import time

import pytest

from bench.report import Case, compare_times, report


def test_the_ratio_is_ours_over_the_peers():
    case = compare_times("sleep", lambda: time.sleep(0.02), lambda: time.sleep(0.002), rounds=3)
    assert case.ours > case.peer > 0
    assert case.ratio == pytest.approx(case.ours / case.peer)
    assert (case.case, case.unit) == ("sleep", "ms")


def test_both_are_called_in_turns():
    calls = []
    compare_times("order", lambda: calls.append("ours"), lambda: calls.append("peer"), rounds=2)
    assert calls == ["ours", "peer"] * 3


def test_cases_are_printed_and_written_as_json(tmp_path, capsys):
    path = tmp_path / "cases.json"
    report([Case("long name of a case", 30.0, 4.0, "ms", 7.5)], path)
    heading, line = capsys.readouterr().out.splitlines()
    assert line.split()[-4:] == ["30.00", "4.00", "ms", "7.5000"]
    assert len(heading) == len(line)
    assert json.loads(path.read_text()) == [
        {"case": "long name of a case", "ours": 30.0, "peer": 4.0, "unit": "ms", "ratio": 7.5}
    ]
