"""JavaScript files with `import` lines of their own, as one script that needs no build step.

An editor, a linter or a browser follows the lines `import { name } from "./file.js";` as they are.
Where a picture has to be one text, each file becomes a function that runs once and returns what it
exports, so that names that are not exported never meet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

IMPORT = re.compile(r'^import \{([\w$,\s]*)\} from "(\.[^"]*)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class)\b)", re.MULTILINE)
DECLARED = re.compile(
    r"^(export )?(?:async )?(?:function\*?|const|let|var|class) (\w+)", re.MULTILINE
)
OTHER_FORMS = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@dataclass(frozen=True)
class Module:
    """A JavaScript file: what it imports from which files, what it exports, and all its code."""

    path: Path
    imports: tuple[tuple[Path, tuple[str, ...]], ...]
    exports: tuple[str, ...]
    body: str  # without the words `import` and `export`

    @property
    def name(self) -> str:
        """What the file is called in a script made of several."""
        return f"${self.path.stem}"

    def text(self) -> str:
        """The file as a function that runs once and returns what it exports."""
        lines = [f"const {{ {', '.join(names)} }} = ${path.stem};" for path, names in self.imports]
        exported = f"return {{ {', '.join(self.exports)} }};"
        code = "\n".join([*lines, self.body.strip(), exported])
        return f"const {self.name} = (() => {{\n{code}\n}})();"


@cache
def read(path: Path) -> Module:
    """Read a file; raise ValueError for imports and exports of any other form, or a name twice."""
    source = path.read_text(encoding="utf-8")
    imports = tuple(
        (
            (path.parent / file).resolve(),
            tuple(name.strip() for name in names.split(",") if name.strip()),
        )
        for names, file in IMPORT.findall(source)
    )
    body = EXPORT.sub("", IMPORT.sub("", source))
    if form := OTHER_FORMS.search(body):
        raise ValueError(f"{path.name} has a line that cannot be read here: {form[0]}")
    declared = DECLARED.findall(source)
    names = Counter(name for _, name in declared)
    names.update(name for _, imported in imports for name in imported)
    if twice := [name for name, times in names.items() if times > 1]:
        raise ValueError(f"{path.name} has the name {twice[0]} twice.")
    return Module(path, imports, tuple(name for word, name in declared if word), body)


def in_order(paths: Iterable[Path]) -> list[Module]:
    """The files and all they import, each after those that it imports.

    Raises ValueError for files that import each other in a circle, for names that a file does not
    export, and for two files of the same name.
    """
    found: dict[Path, Module] = {}
    for path in paths:
        _visit(path.resolve(), found, ())
    stems = Counter(module.path.stem for module in found.values())
    if twice := [stem for stem, times in stems.items() if times > 1]:
        raise ValueError(f"Two files are called {twice[0]}.js.")
    return list(found.values())


def _visit(path: Path, found: dict[Path, Module], above: tuple[Path, ...]) -> None:
    if path in found:
        return
    if path in above:
        circle = " -> ".join(each.name for each in (*above[above.index(path) :], path))
        raise ValueError(f"Files import each other in a circle: {circle}.")
    module = read(path)
    for file, names in module.imports:
        _visit(file, found, (*above, path))
        if missing := set(names) - set(found[file].exports):
            raise ValueError(f"{file.name} does not export {min(missing)}, wanted by {path.name}.")
    found[path] = module


def script(modules: Iterable[Module]) -> str:
    """The code of some files in their order; `$name.what` is then what a file name.js exports."""
    return "\n".join(module.text() for module in modules)


def stylesheet(modules: Iterable[Module]) -> str:
    """The stylesheets that stand beside some files, in the same order."""
    sheets = (module.path.with_suffix(".css") for module in modules)
    return "\n".join(sheet.read_text(encoding="utf-8") for sheet in sheets if sheet.exists())
