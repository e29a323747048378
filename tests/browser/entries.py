"""What the tests of wings add to tables of pages, which tests go through."""

from importlib import import_module
from pathlib import Path

WINGS = Path(__file__).parents[1] / "wings"


def of_wings(table):
    """The entries of a table, by its name; a wing that is left out has none."""
    entries = {}
    for path in sorted(WINGS.glob("*/browser/entries.py")):
        wing = import_module(f"tests.wings.{path.parents[1].name}.browser.entries")
        entries |= getattr(wing, table, {})
    return entries
