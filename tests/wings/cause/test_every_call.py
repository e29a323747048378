"""The page Cause calls a model only by the wing's calls, each of which waits its turn."""

import ast
from pathlib import Path

from tests.pages.shared.runs import test_every_call as trunk

WING = Path(__file__).parents[3] / "wings" / "cause"
FUNCTIONS = {"knock_out", "two_runs", "patch_heads", "patch_tokens"}  # which run a model


def test_the_functions_are_those_of_the_wing():
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in WING.glob("*.py"))
    defined = {
        node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    }
    assert defined >= FUNCTIONS


def test_the_page_calls_no_model():
    known = trunk.FUNCTIONS | FUNCTIONS
    calls = {
        path.name: trunk.model_calls(path.read_text(encoding="utf-8"), known)
        for path in (WING / "page").glob("*.py")
    }
    assert {name: names for name, names in calls.items() if names} == {}


def test_every_function_that_calls_a_model_is_one_of_the_door():
    trunk.expect_calls_of_the_door(WING.glob("*calls.py"), trunk.FUNCTIONS | FUNCTIONS)
