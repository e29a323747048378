"""The command `headlight`: what it hands on, and to whom the app is open."""

import os
import sys

import pytest

from headlight import __main__ as command
from headlight.pages.server.door import VARIABLE

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
    assert "whole number of at least 1" in capsys.readouterr().err
