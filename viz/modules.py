"""Join JavaScript files that import each other into one script, without a build step.

Editors, linters and browsers follow the lines `import { name } from "./file.js";` in the files.
Where a picture must be one text, each file becomes a function that runs once and returns its
exports, so that names that are not exported never clash. The linter refuses clashing or missing
names, and files that import each other in a circle.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

IMPORT = re.compile(r'^import (\{[\w$,\s]*\}) from "(\.[^"]*)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)


@cache
def imports(path: Path) -> list[Path]:
    matches = IMPORT.findall(path.read_text(encoding="utf-8"))
    return [(path.parent / file).resolve() for _, file in matches]


@cache
def exports(path: Path) -> list[str]:
    return EXPORT.findall(path.read_text(encoding="utf-8"))


def in_order(paths: Iterable[Path]) -> list[Path]:
    """Return the files and all that they import, each once and after the files that it imports."""
    ordered: dict[Path, None] = {}
    for path in map(Path.resolve, paths):
        if path not in ordered:
            ordered |= dict.fromkeys([*in_order(imports(path)), path])
    return list(ordered)


def script(paths: Iterable[Path]) -> str:
    """Return the code of some files as one script, in which `$name` holds name.js's exports."""
    return "\n".join(map(as_function, paths))


@cache
def as_function(path: Path) -> str:
    """Return a file's code as a function that runs once and returns the file's exports."""
    source = path.read_text(encoding="utf-8")
    body = IMPORT.sub(lambda match: f"const {match[1]} = ${Path(match[2]).stem};\n", source)
    body = EXPORT.sub("", body)
    returned = f"return {{ {', '.join(exports(path))} }};"
    return f"const ${path.stem} = (() => {{\n{body.strip()}\n{returned}\n}})();"


def stylesheet(paths: Iterable[Path]) -> str:
    """Return the stylesheets that lie next to some scripts, in the scripts' order."""
    sheets = (path.with_suffix(".css") for path in paths)
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists())
