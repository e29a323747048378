"""The public names of headlight."""

import ast
import inspect
from pathlib import Path

import pytest

import headlight

ROOT = Path(__file__).parents[2]


def test_every_public_name_is_at_hand_and_listed():
    assert dir(headlight) == headlight.__all__
    for name in headlight.__all__:
        assert inspect.getmodule(getattr(headlight, name)).__name__.startswith("headlight.")


def test_editors_are_told_the_same_names():
    tree = ast.parse(Path(headlight.__file__).read_text(encoding="utf-8"))
    (told,) = [node for node in tree.body if isinstance(node, ast.If) and "TYPE" in ast.dump(node)]
    names = [alias.name for statement in told.body for alias in statement.names]
    assert sorted(names) == headlight.__all__


def test_a_name_that_is_missing_is_an_error_that_lists_the_others():
    with pytest.raises(AttributeError, match=r"has no 'load_modle'.*load_model"):
        _ = headlight.load_modle


def test_the_documentation_has_every_public_name_under_a_heading():
    text = (ROOT / "docs" / "notebook.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("##")]
    assert not [name for name in headlight.__all__ if f"`{name}`" not in " ".join(headings)]
