"""Leave each wing out in turn, and check that the app and its tests know nothing of it.

    python -m tests.wings.left_out cause     # some wings; all without a name

This is `make wings`. It works on a scratch copy of the tracked files.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINES = "pages/parts/pages.py", "headlight/__init__.py"  # what names a wing
COMMIT = ("git", "-c", "user.name=Headlight", "-c", "user.email=headlight@localhost", "commit")
# `model` and `viz` have no tests here: a contract of imports forbids them to know a wing.
TESTS = ("tests/pages", "tests/headlight", "tests/streamlit_fixes", "tests/test_*.py")
EVERY_MODULE = """
from importlib import import_module
from pathlib import Path
for folder in ("model", "viz", "pages", "wings"):
    for path in sorted(Path(folder).rglob("*.py")):
        if path.parent != Path("pages") and path.name != "__main__.py":
            import_module(".".join(["headlight", *path.with_suffix("").parts]))
"""


def tracked() -> list[str]:
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.rstrip("\0").split("\0") if (ROOT / name).exists()]


def wings() -> list[str]:
    return sorted({name.split("/")[1] for name in tracked() if name.startswith("wings/")})


def copy_without(wing: str, copy: Path) -> None:
    """Copy the tracked files to a folder, but no tests of wings and nothing of this wing."""
    left_out = f"wings/{wing}/", "tests/wings/"
    for name in tracked():
        if not name.startswith(left_out):
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    (copy / "tests" / "wings").mkdir(parents=True)
    for name in LINES:
        text = (copy / name).read_text(encoding="utf-8")
        (copy / name).write_text(without(wing, text), encoding="utf-8")


def without(wing: str, text: str) -> str:
    """Leave out the lines that name a wing, and those of the names that come from it."""
    names = "|".join(re.findall(rf'"(\w+)": "wings\.{wing}\.', text)) or "(?!)"
    gone = re.compile(rf'.*\bwings\.{wing}\.|\s*"({names})",$')
    return "".join(line for line in text.splitlines(keepends=True) if not gone.match(line))


def checks(copy: Path, workers: str) -> dict[str, list[str]]:
    """Return what has to succeed in a copy, as commands by their names."""
    pytest = [sys.executable, "-m", "pytest", "-q", "--timeout", "600", "--numprocesses", workers]
    tests = [str(path.relative_to(copy)) for each in TESTS for path in sorted(copy.glob(each))]
    return {
        "imports": [sys.executable, "-c", EVERY_MODULE],
        "names": [sys.executable, "-m", "ruff", "check", "--select", "F", "."],
        "tests": [*pytest, "-m", "not matrix", *tests],
        "pages": [*pytest, "-k", "test_it_opens", "tests/browser/test_every_page.py"],
    }


def failures(wing: str, workers: str) -> list[str]:
    """Return which checks fail without a wing; print what they say."""
    with tempfile.TemporaryDirectory(prefix=f"without-{wing}-") as folder:
        copy = Path(folder)
        copy_without(wing, copy)
        for command in (["git", "init", "-q"], ["git", "add", "."], [*COMMIT, "-qm", "A copy"]):
            subprocess.run(command, cwd=copy, check=True)
        failed = []
        for name, command in checks(copy, workers).items():
            done = subprocess.run(command, cwd=copy, capture_output=True, text=True)
            if done.returncode:
                failed.append(name)
                print(done.stdout[-20_000:], done.stderr[-5_000:], sep="\n")
        return failed


def main() -> None:
    known = wings()
    parser = argparse.ArgumentParser(prog="python -m tests.wings.left_out")
    parser.add_argument("wings", nargs="*", choices=[*known, []], metavar="WING")
    parser.add_argument("--today", action="store_true", help="one wing, another one every day")
    parser.add_argument("--workers", default="2", help="tests that run side by side")
    options = parser.parse_args()
    day = date.today().timetuple().tm_yday
    chosen = [known[day % len(known)]] if options.today else options.wings or known
    failed = False
    for wing in chosen:
        began = time.monotonic()
        told = failures(wing, options.workers)
        failed |= bool(told)
        said = f"fails: {', '.join(told)}" if told else "runs"
        print(f"without {wing}: {said}, {time.monotonic() - began:.0f} s", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
