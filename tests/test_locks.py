"""What is installed is locked: each version, by the hashes of its files."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PIN = re.compile(r"([\w.-]+)(?:\[\w+\])?==([\w.+]+)")


def pins(path):
    """The versions of a file by name; a package may have several, for several Pythons."""
    text = (ROOT / path).read_text(encoding="utf-8")
    matches = re.findall(rf"^{PIN.pattern}", text, re.MULTILINE)
    return {(name.lower().replace("_", "-"), version) for name, version in matches}


def test_there_is_a_lock_for_every_requirement():
    torch = {pin for pin in pins("requirements.txt") if pin[0] == "torch"}
    ((_, version),) = torch
    assert pins("requirements.txt") - torch <= pins("locks/app.txt")
    assert torch <= pins("locks/cuda.txt")
    assert ("torch", f"{version}+cpu") in pins("locks/cpu.txt")
    assert pins("requirements-dev.txt") <= pins("locks/dev.txt")
    assert pins("requirements-corpus.txt") <= pins("locks/corpus.txt") & pins("locks/dev.txt")
    assert pins("requirements-alone.txt") == pins("locks/alone.txt")


@pytest.mark.parametrize("path", [f"locks/{name}.txt" for name in ("cpu", "cuda", "corpus", "dev")])
def test_what_several_locks_hold_they_hold_alike(path):
    app = pins("locks/app.txt")
    names = {name for name, _ in app}
    assert {pin for pin in pins(path) if pin[0] in names} <= app


def test_the_build_for_the_cpu_brings_nothing_for_a_gpu():
    names = {name for path in ("app", "cpu", "dev") for name, _ in pins(f"locks/{path}.txt")}
    assert not [name for name in names if name.startswith(("nvidia", "cuda", "triton"))]


def test_the_package_requires_what_is_installed_and_nothing_else():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    needed = {
        line.name: line.specifier
        for line in map(Requirement, tomllib.loads(text)["project"]["dependencies"])
    }
    installed = dict(pins("requirements.txt"))
    assert needed.keys() == installed.keys()
    assert not [name for name, bounds in needed.items() if installed[name] not in bounds]


@pytest.mark.parametrize("path", ["Makefile", "Dockerfile"])
def test_nothing_is_installed_but_what_is_locked(path):
    text = (ROOT / path).read_text(encoding="utf-8").replace("\\\n", " ")
    installed = re.findall(r"pip install.*", text)
    assert installed
    assert all("--require-hashes" in package for package in installed)
