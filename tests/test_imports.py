"""Imports go one way: app.py -> pages -> viz, model."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = [
    path.relative_to(ROOT)
    for path in sorted(ROOT.rglob("*.py"))
    if not path.relative_to(ROOT).parts[0].startswith(".")
    and path.relative_to(ROOT).parts[0] not in ("tests", "runs")
]


def imports(source, package, top_level_only=False):
    """The modules a source imports, relative imports resolved against its package."""
    tree = ast.parse(source)
    inside = {
        child
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
        for child in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if top_level_only and node in inside:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*above, *([node.module] if node.module else [])])
            found |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return found


def packages_of(path, top_level_only=False):
    source = (ROOT / path).read_text(encoding="utf-8")
    return {
        name.split(".")[0] for name in imports(source, path.parent.parts, top_level_only) if name
    }


def files_under(folder):
    return [path for path in FILES if path.parts[0] == folder]


def test_the_reader_of_imports_sees_every_form():
    source = (
        "import a.b, c as d\nfrom e.f import g\nfrom . import h\nfrom ..i import j\n"
        "def function():\n    import k\nif True:\n    import m\nif TYPE_CHECKING:\n    import n\n"
    )
    assert imports(source, ("top", "sub")) == {
        "a.b", "c", "e.f", "e.f.g", "top.sub", "top.sub.h", "top.i", "top.i.j", "k", "m", "n",
    }  # fmt: skip
    assert not {"k", "n"} & imports(source, ("top", "sub"), top_level_only=True)
    assert "m" in imports(source, ("top", "sub"), top_level_only=True)


def test_the_files_of_the_project_are_found():
    assert Path("model/attention.py") in FILES
    assert "torch" in packages_of(Path("model/attention.py"))


@pytest.mark.parametrize("path", files_under("model"), ids=str)
def test_model_knows_neither_pictures_nor_pages(path):
    assert not packages_of(path) & {"viz", "streamlit", "pages", "app"}


@pytest.mark.parametrize("path", files_under("viz"), ids=str)
def test_viz_knows_neither_the_model_nor_pages(path):
    assert not packages_of(path) & {"streamlit", "torch", "model", "pages", "app"}


@pytest.mark.parametrize("path", FILES, ids=str)
def test_only_the_app_and_its_pages_know_streamlit(path):
    knowing = (
        "app.py",
        "pages/",
        "bench/pages/",
        "bench/visitors.py",
        "bench/rerun.py",
        "bench/hostile/",
    )
    if not str(path).startswith(knowing):
        assert "streamlit" not in packages_of(path)


@pytest.mark.parametrize("path", FILES, ids=str)
def test_nothing_that_the_app_starts_with_loads_transformers(path):
    slow = {"transformers", "huggingface_hub"}
    assert path.parts[0] == "bench" or not slow & packages_of(path, top_level_only=True)


def test_the_first_page_waits_for_no_package_that_it_does_not_use():
    """Python itself says what was loaded, by way of others too."""
    code = "import sys; import pages.parts.pages; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    loaded = {*done.stdout.split()}
    assert "torch" in loaded
    assert (
        not {"altair", "lxml", "pandas", "pptx", "pydantic", "sacrebleu", "transformers"} & loaded
    )


@pytest.mark.parametrize("path", files_under("pages"), ids=str)
def test_pages_do_not_import_the_app(path):
    assert "app" not in packages_of(path)


def imported_files(path):
    """The files of this project that a file imports, be it for its types only or in a function."""
    names = imports((ROOT / path).read_text(encoding="utf-8"), path.parent.parts)
    places = [Path(*name.split(".")) for name in names if name]
    files = {place.with_suffix(".py") for place in places}.intersection(FILES)
    # `from package import file` means the file, not what stands in the package's own.
    packages = set(places) - {file.parent for file in files}
    return files | {package / "__init__.py" for package in packages}.intersection(FILES)


def reached_files(path):
    """A file and all that it imports, directly or through others."""
    reached, left = set(), {path}
    while left:
        reached |= left
        left = set().union(*map(imported_files, left)) - reached
    return reached


def model_files(*names):
    """The files of these parts of model/: folders, or files of model/ itself."""
    return [
        path
        for path in files_under("model")
        if path.parts[1] in names or (len(path.parts) == 2 and path.stem in names)
    ]


@pytest.mark.parametrize("folder", ["model", "viz", "pages"])
def test_no_file_imports_itself_through_others(folder):
    arrows = {path: imported_files(path) for path in files_under(folder)}
    TopologicalSorter(arrows).prepare()  # raises CycleError, which names the files


VOCABULARY = ("config", "shape", "tokens", "trace", "sequences")
FRONT_DOOR = ("__init__", "translator", "train", "evaluate", "archive")


@pytest.mark.parametrize("path", model_files("transformer", *VOCABULARY), ids=str)
def test_the_transformer_needs_nothing_but_torch(path):
    needed = set().union(*map(packages_of, reached_files(path)))
    assert needed - set(sys.stdlib_module_names) <= {"torch", "model"}


@pytest.mark.parametrize("path", model_files(*VOCABULARY), ids=str)
def test_the_vocabulary_of_the_model_imports_only_itself(path):
    assert imported_files(path).issubset(model_files(*VOCABULARY))


@pytest.mark.parametrize(
    ("folder", "forbidden"),
    [
        ("decoding", {"insight", "training", "library", *FRONT_DOOR}),
        ("library", {"insight", "training", *FRONT_DOOR}),
        ("training", {"insight", "library", "train", "evaluate"}),
        ("insight", {"training", "train", "evaluate"}),
        ("translator", {"insight", "training", "library", "train", "evaluate"}),
    ],
)
def test_a_part_of_the_model_imports_only_what_it_stands_on(folder, forbidden):
    found = {
        path: imported_files(path).intersection(model_files(*forbidden))
        for path in model_files(folder)
        if path.name != "loading.py"  # which opens every model
    }
    assert found
    assert not {path: files for path, files in found.items() if files}


# What each floor of pages/shared may import of the others.
FLOORS = {
    "state": (),
    "runs": ("state",),
    "link": ("runs", "state"),
    "widgets": ("runs", "state"),
    "show": ("widgets", "link", "runs", "state", "browser"),
    "inside": ("show", "widgets", "link", "runs", "state"),
    "controls": ("show", "widgets", "link", "runs", "state"),
    "deck": ("show", "link", "runs", "state", "browser"),
    "frame": ("deck", "show", "link", "state", "browser"),
}
BLIND = ("state", "runs", "link")  # floors that draw nothing
SHARED = [path for path in files_under("pages") if path.parts[1] == "shared"]
PARTS = [path for path in files_under("pages") if path.parts[1] == "parts" and len(path.parts) > 3]
SERVER = [path for path in files_under("pages") if path.parts[1] == "server"]
PAGES = [path for path in files_under("pages") if len(path.parts) == 2]


def room_of(parts):
    """The floor, or the part of a page, that a module of pages belongs to; None for a page."""
    if parts[1] == "browser":
        return "browser"
    if parts[1] == "parts":
        return "/".join(parts[1:3])
    return parts[2] if parts[1] == "shared" else None


def modules_imported(path):
    return imports((ROOT / path).read_text(encoding="utf-8"), path.parent.parts)


def rooms_entered(path):
    """The other floors, and the other parts of pages, that a file of pages imports from."""
    modules = [name.split(".") for name in modules_imported(path)]
    rooms = {room_of(parts) for parts in modules if parts[0] == "pages" and len(parts) > 2}
    return rooms - {room_of(path.parts), None}


@pytest.mark.parametrize("path", SERVER, ids=str)
def test_the_server_starts_without_pages_and_models(path):
    assert reached_files(path).issubset([*SERVER, Path("pages/shared/runs/limits.py")])


@pytest.mark.parametrize("path", SHARED, ids=str)
def test_a_floor_imports_only_lower_ones(path):
    floor = room_of(path.parts)
    assert rooms_entered(path) <= {*FLOORS[floor]}
    assert floor not in BLIND or "viz" not in packages_of(path)


@pytest.mark.parametrize("path", PARTS, ids=str)
def test_no_part_of_a_page_imports_another(path):
    assert rooms_entered(path) <= {*FLOORS, "browser"}


@pytest.mark.parametrize("path", PAGES, ids=str)
def test_a_page_imports_the_parts_of_one_page_alone(path):
    assert len(rooms_entered(path) - {*FLOORS, "browser"}) <= 1
