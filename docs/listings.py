"""The lines of code that docs/transformer.md shows, taken from the files that it names.

A comment `<!-- FILE: NAME -->` stands before a block of code; `make docs` fills the block with the
definition of that name, such as `attend` or `Residual.forward`.
"""

import ast
import re
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "transformer.md"
LISTING = re.compile(r"(<!-- (\S+): (\S+) -->\n```py\n).*?(```\n)", re.S)


def with_listings(text: str) -> str:
    """Return a page of the documentation with the present lines of the code that it shows."""
    return LISTING.sub(lambda each: f"{each[1]}{definition(each[2], each[3])}{each[4]}", text)


def definition(file: str, name: str) -> str:
    """Return the lines of a function, a class or a method; raises StopIteration if it is gone."""
    source = (ROOT / file).read_text("utf-8")
    node = ast.parse(source)
    for part in name.split("."):
        node = next(each for each in node.body if getattr(each, "name", "") == part)
    lines = source.splitlines(keepends=True)
    return textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))


if __name__ == "__main__":
    PAGE.write_text(with_listings(PAGE.read_text("utf-8")), "utf-8")
