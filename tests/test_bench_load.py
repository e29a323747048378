import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import numpy as np
import pytest
from streamlit.proto.BidiComponent_pb2 import BidiComponent

from bench.crowd import Clock, Served, family, resident
from bench.load import cases_of, rush_cases, sentence_of, wrong
from bench.performance import plot, write_section
from bench.report import machine
from bench.visitors import Rerun, Visitor, heatmap
from headlight.model.translator import load
from headlight.pages.browser.library import mounted
from headlight.viz import attention_heatmap


def test_no_two_visitors_enter_the_same_sentence():
    sentences = [sentence_of(visitor, number) for visitor in range(90) for number in range(35)]
    assert len(set(sentences)) == len(sentences)


@pytest.fixture(scope="module")
def answer():
    """What a visitor sees who is answered rightly."""
    translator = load("en-fr")
    translation = translator.translate("I love my cat.")
    trace = translator.trace("I love my cat.", translation)
    weights = trace.weights("cross")[1, 2].numpy()
    tokens = [token.text for token in trace.source_tokens]
    return Rerun("I love my cat.", 3, "head", 0.1, 10, tokens, translation.text, weights)


def test_an_answer_to_another_visitor_is_found(answer):
    assert wrong([answer]) == 0
    others = [
        replace(answer, head=4),
        replace(answer, sentence="Who is that?"),
        replace(answer, translation="Qui est-ce ?"),
        replace(answer, weights=answer.weights[:-1]),
        replace(answer, weights=answer.weights + 1e-3),
        replace(answer, tokens=answer.tokens[::-1]),
    ]
    assert wrong([answer, *others]) == len(others)


def test_cases_of_visitors_are_beside_the_lone_one(answer):
    actions = ("sentence", "head") * 10
    lone = [replace(answer, action=action, seconds=0.1) for action in actions]
    many = [replace(answer, action=action, seconds=0.2) for action in actions]
    cases = {case.case: case for case in cases_of(25, many, lone, "")}
    assert cases["25 sessions p95"].ratio == pytest.approx(2)
    assert cases["25 sessions p95"].ours == pytest.approx(200)
    assert set(cases) == {
        f"25 sessions {action}{word}"
        for action in ("", "sentence ", "head ")
        for word in ("median", "p95")
    }


def test_a_rush_is_the_longest_wait_beside_a_lone_visitors(answer):
    alone = [replace(answer, action="link", seconds=0.1)] * 5
    many = [replace(answer, action="link", seconds=0.2 + number / 100) for number in range(21)]
    longest, most = rush_cases(many, alone)
    assert (longest.case, most.case) == ("21 rush", "21 rush p95")
    assert longest.ours == pytest.approx(400)
    assert longest.ratio == pytest.approx(4)
    assert most.ours == pytest.approx(390)


def test_the_processes_of_a_server_are_counted_together():
    command = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", command], stdin=pipe) as process:
        while len(family(process.pid)) < 2:
            assert process.poll() is None
        served = Served("", process.pid, 1)
        assert served.memory > resident(process.pid)
        clock = Clock(served)
        sum(range(10**6))
        work = clock.taken()
        assert 0 < work.visitors < work.cores
        process.stdin.close()


def test_a_visitor_reads_elements_by_key_and_stops_at_an_error():
    from streamlit.proto.Element_pb2 import Element

    visitor, element, error = Visitor("http://127.0.0.1:1"), Element(), Element()
    element.button_group.id = "$$ID-0123abcd-head"
    visitor.take(element, "the fragment")
    assert visitor.ids == {"head": "$$ID-0123abcd-head"}
    assert visitor.fragments["head"] == "the fragment"
    error.exception.message = "broken"
    with pytest.raises(RuntimeError, match="broken"):
        visitor.take(error, "")


def test_the_numbers_of_a_heatmap_are_read():
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    part = BidiComponent(bytes=mounted(attention_heatmap(values, ["a", "b"], ["c", "d", "e"])))
    assert (heatmap(part) == values).all()


def test_a_part_of_the_page_is_replaced_and_the_others_stay(tmp_path):
    page = tmp_path / "performance.md"
    write_section("One", "first words", page)
    write_section("Two", "other words", page)
    write_section("One", "new words", page)
    written = page.read_text()
    assert written.index("## One") < written.index("new words") < written.index("## Two")
    assert "first words" not in written
    assert "other words" in written
    assert written.count("## ") == 2


def test_the_machine_is_described_without_its_name():
    import platform

    assert "cores" in machine()
    assert platform.node() not in machine()


def test_a_plot_is_svg_with_a_line_for_each_quantity():
    lines = {"forward": [(16, 1.0), (32, 2.0)], "<bytes>": [(16, 1.0), (32, 4.0)]}
    drawing = ElementTree.fromstring(plot({"tokens": lines, "heads": lines}, "times"))
    drawn = drawing.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(drawn) == 4
    first, second = drawn[1].get("points").split()
    assert float(first.split(",")[1]) > float(second.split(",")[1])  # more is higher


def test_growth_measures_each_size_beside_the_smallest(monkeypatch):
    from bench import growth

    monkeypatch.setattr(growth, "ROUNDS", 1)
    cases = growth.measure("beams", (1, 2))
    assert [case.case for case in cases] == ["beams 1 decoding", "beams 2 decoding"]
    assert cases[0].ratio == 1
    assert growth.panels_of(cases)["beams"]["decoding"][0] == (1, 1.0)
    work = growth.Work(growth.Size(tokens=5, heads=2, layers=1))
    assert work.trace.weights("decoder").shape == (1, 2, 5, 5)
    assert work.grid() > 2 * 5 * 5
