"""The command `headlight`: what it hands on, and to whom the app is open."""

import os
import re
import runpy
import socket
import subprocess
import sys

import pytest

from headlight import __main__ as command
from headlight.pages.server import door, guards
from headlight.pages.server.door import VARIABLE
from headlight.pages.shared.runs import limits

SHARED = ["--server.address", "0.0.0.0"]


@pytest.fixture
def started(monkeypatch):
    """What the command starts, given its words: the number of processes and their options."""
    monkeypatch.setenv(VARIABLE, "")  # is put back at the end
    monkeypatch.delenv(VARIABLE)
    calls = []
    monkeypatch.setattr(command.cli, "main", lambda words, **_: calls.append((1, words)))
    monkeypatch.setattr(command.serving, "run", lambda *given: calls.append(given))

    def start(*words):
        monkeypatch.setattr(sys, "argv", ["headlight", *words])
        command.main()
        return calls.pop()

    return start


def test_by_itself_it_runs_the_app_on_this_machine_only(started):
    assert started() == (1, ["run", str(command.serving.APP)])
    assert command.serving.APP.is_file()
    assert VARIABLE not in os.environ


def test_it_takes_a_port_and_options_of_streamlit(started):
    _, words = started("--port", "8700", "--server.headless", "true")
    assert words[2:] == ["--server.headless", "true", "--server.port", "8700"]


def test_shared_it_needs_a_token(started):
    count, words = started("--share", "--server.port", "8600")
    assert (count, words[2:]) == (1, [*SHARED, "--server.port", "8600"])
    assert len(os.environ[VARIABLE]) >= 12


@pytest.mark.parametrize("token", ["one of my own", ""])
def test_a_token_of_ones_own_stays(started, monkeypatch, token):
    monkeypatch.setenv(VARIABLE, token)
    started("--share")
    assert os.environ[VARIABLE] == token


def test_several_processes_are_shared(started):
    assert started("--workers", "3", "--port", "8600") == (3, [*SHARED, "--server.port", "8600"])
    assert started("--workers") == (os.cpu_count(), SHARED)
    assert os.environ[VARIABLE]


def test_no_process_at_all_is_refused_with_a_sentence(started, capsys):
    with pytest.raises(SystemExit):
        started("--workers", "0")
    assert "whole number from 1 to 256" in capsys.readouterr().err


ROOT = command.serving.APP.parent
WHOLE = ["abc", "0", "-1", "1.5", "1e3", "\N{SUPERSCRIPT TWO}", "9" * 5000]
NONSENSE = dict.fromkeys(
    (
        *(
            "HEADLIGHT_WORKER",
            "HEADLIGHT_WORKERS",
            "HEADLIGHT_THREADS",
            "HEADLIGHT_RUNS",
            "HEADLIGHT_RUN_MEGABYTES",
        ),
        *("HEADLIGHT_ALL_RUNS_MEGABYTES", "HEADLIGHT_MODELS", "HEADLIGHT_TRAININGS"),
        *("HEADLIGHT_TRAINING_SECONDS", "HEADLIGHT_COUNTS", "HEADLIGHT_COUNT_LINES"),
        *("HEADLIGHT_COUNT_SECONDS", "HEADLIGHT_UPLOAD_MEGABYTES"),
        "HEADLIGHT_ALL_UPLOADS_MEGABYTES",
    ),
    WHOLE,
) | {
    "HEADLIGHT_MODELS_ALLOWED": ["../x", "~/models", "a, ./b"],
    "HEADLIGHT_EMBED": ["*", "http://[", "https://a;script-src"],
    "HEADLIGHT_TOKEN": ["guess"],
    "HEADLIGHT_BEHIND": [],  # the parent process sets it
}
HEADLIGHT = (sys.executable, "-m", "headlight")
APART = ("--server.port", "0", "--server.headless", "true")
STARTS = HEADLIGHT, (sys.executable, "-m", "streamlit", "run", "app.py", *APART)


def refusals(starts):
    """The last lines of what is said by commands that end, each with variables of its own."""
    began = [
        subprocess.Popen(
            words, cwd=ROOT, env=os.environ | more, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for words, more in starts
    ]  # fmt: skip
    try:
        said = [process.communicate(timeout=300)[0] for process in began]
    finally:
        for process in began:
            process.kill()
    assert all(process.returncode > 0 for process in began)
    assert not [text for text in said if "Traceback" in text]
    return [text.splitlines()[-1] for text in said]


def variables():
    """The names of all variables that the product reads."""
    parts = ("headlight", "pages", "model", "viz")
    files = [file for part in parts for file in (ROOT / part).rglob("*.py")]
    return {
        name for file in files for name in re.findall(r'"(HEADLIGHT_[A-Z_]+)"', file.read_text())
    }


def settings():
    """Read all variables, as the start does."""
    runpy.run_path(limits.__file__)
    door.access_token(), guards.framing_origins()


@pytest.mark.parametrize("name", sorted(variables()))
def test_a_variable_that_makes_no_sense_is_refused_with_a_sentence(monkeypatch, name):
    for value in NONSENSE[name]:
        monkeypatch.setenv(name, value)
        with pytest.raises(ValueError, match=f"^{name} [^\\n]{{20,200}}$"):
            settings()


def test_the_start_ends_with_that_sentence():
    cases = [(name, NONSENSE[name][0]) for name in ("HEADLIGHT_THREADS", "HEADLIGHT_TOKEN")]
    said = refusals([(start, {name: value}) for start in STARTS for name, value in cases])
    assert [line.split()[0] for line in said] == 2 * [name for name, _ in cases]


@pytest.mark.parametrize("workers", [(), ("--workers", "2")])
def test_an_option_that_makes_no_sense_ends_the_start_in_a_sentence(workers):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        nonsense = {
            ("--port", "99999"): "Headlight cannot start: .* 0-65535",
            ("--port", "-1"): "Headlight cannot start: .* 0-65535",
            ("--port", "abc"): "headlight: error: .*'abc'",
            ("--port",): "headlight: error: .* expected one argument",
            ("--server.port", "abc"): "headlight: error: .*'abc'",
            ("--workers", "abc"): "headlight: error: .*'abc'",
            ("--workers", "-1"): "headlight: error: --workers takes a whole number",
            ("--workers", "1000000"): "headlight: error: --workers takes a whole number",
            ("--share=3",): "headlight: error: .*'3'",
            ("--server.address", "no.such.name.invalid"): "Headlight cannot start: ",
            ("--port", port, "--server.address", "127.0.0.1"): ".*(already in use|not available)",
        }
        said = refusals([((*HEADLIGHT, *workers, *words), {}) for words in nonsense])
    for line, words in zip(said, nonsense.values(), strict=True):
        assert re.match(words, line), line
