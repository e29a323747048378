"""Visitors without a browser, as the benches send them, see what the page shows."""

import pytest

from bench.load import sentence_of, wrong
from bench.visitors import Visitor
from tests.apart import run_apart


@pytest.mark.matrix
def test_a_visitor_without_a_browser_reads_right_answers(server):
    async def visit():
        async with Visitor(server) as visitor:
            await visitor.arrive()
            return [await visitor.edit(sentence_of(1, 2)), await visitor.switch(3)]

    answers = run_apart(visit())
    assert [answer.action for answer in answers] == ["sentence", "head"]
    assert wrong(answers) == 0
