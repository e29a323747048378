import json
import re
import time
from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from bench.random_heads import random_weights
from bench.report import Case, compare_times, report
from tests.pages.pictures import canvas_pictures

ROOT = Path(__file__).parent.parent


def test_the_ratio_is_ours_over_the_peers():
    case = compare_times("sleep", lambda: time.sleep(0.4), lambda: time.sleep(0.001), rounds=3)
    assert case.ours > case.peer > 0
    assert case.ratio == pytest.approx(case.ours / case.peer)
    assert (case.case, case.unit) == ("sleep", "ms")


def test_cases_are_printed_and_written_as_json(tmp_path, capsys):
    path = tmp_path / "cases.json"
    report([Case("long name of a case", 30.0, 4.0, "ms", 7.5)], path)
    heading, line, machine = capsys.readouterr().out.splitlines()
    assert line.split()[-4:] == ["30.00", "4.00", "ms", "7.5000"]
    assert len(heading) == len(line)
    assert torch.backends.cpu.get_cpu_capability() in machine
    assert json.loads(path.read_text()) == [
        {"case": "long name of a case", "ours": 30.0, "peer": 4.0, "unit": "ms", "ratio": 7.5}
    ]


def test_all_heads_are_drawn_beside_bertviz_by_a_click():
    page = AppTest.from_file(ROOT / "bench" / "pages" / "all_heads.py", default_timeout=60)
    page.query_params["tokens"] = "8"
    page.run()
    assert not canvas_pictures(page)
    page.button[0].click().run()
    assert not page.exception
    (grid, maps), _, (lines, weights) = canvas_pictures(page)
    assert len(grid["strongest"]) == 144
    assert len(maps) == 144 * 8 * 8
    assert weights == random_weights(8)[0, 0].tobytes()
    assert len(lines["queries"]) == 8


def test_a_case_of_pictures_names_view_tokens_and_quantity():
    bench = pytest.importorskip("bench.pictures", exc_type=ModuleNotFoundError)
    mine = {"seconds": 0.5, "bytes": 2.0, "hover ms": 20.0}
    made = bench.cases_of("model_view", 128, mine, {"seconds": 100.0, "bytes": 100.0}, "stopped")
    assert [(case.case, case.unit, case.ratio, case.note) for case in made] == [
        ("model view 128 seconds", "s", 0.005, "stopped"),
        ("model view 128 bytes", "MB", 0.02, ""),
    ]


def test_the_peers_page_has_every_weight_and_asks_only_for_scripts_there_are(tmp_path):
    peer = pytest.importorskip("bench.bertviz_pages", exc_type=ModuleNotFoundError)
    peer.build("model_view", 3, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f'"attn": {json.dumps(random_weights(3).tolist())}' in page
    # A path of requirejs is written without its .js.
    asked = re.findall(r"https://cdnjs[^'\"]+/([^'\"]+)", page)
    served = {name.removesuffix(".js") for name in peer.SCRIPTS}
    assert {name.removesuffix(".js") for name in asked} == served


def test_the_bare_page_draws_another_chart_after_each_click():
    page = AppTest.from_file(ROOT / "bench" / "pages" / "bare.py", default_timeout=60).run()
    drawn = [page.get("plotly_chart")[0].proto.spec]
    for click in (
        lambda: page.text_input[0].input("Who is that?"),
        lambda: page.selectbox[0].set_value(1),
        lambda: page.button[0].click(),
    ):
        click().run()
        drawn.append(page.get("plotly_chart")[0].proto.spec)
    assert not page.exception
    assert len(set(drawn)) == 4


def test_a_case_of_clicks_is_the_ratio_of_the_medians():
    bench = pytest.importorskip("bench.app", exc_type=ModuleNotFoundError)
    case = bench.case_of("head", [10.0, 30.0, 90.0], [10.0, 20.0, 30.0], unit="ms")
    assert (case.ours, case.peer, case.ratio) == (30.0, 20.0, 1.5)
    assert case.note.startswith("3 pairs")
    assert len({bench.sentence_of(number) for number in range(40)}) == 40
