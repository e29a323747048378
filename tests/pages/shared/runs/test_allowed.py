"""Which models a host lets visitors load."""

import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.shelf import NONE, any_is_allowed, is_allowed, rule


@pytest.fixture
def allow(monkeypatch):
    """A function that allows names and folders by patterns."""
    return lambda *patterns: monkeypatch.setattr(limits, "MODELS_ALLOWED", patterns)


NAMES = ("google-bert/bert", "/root", "~root", "no such **name**")


def test_on_ones_own_machine_everything_is_allowed_without_a_list(allow):
    allow()
    assert any_is_allowed()
    assert all(map(is_allowed, NAMES))
    assert rule() == ""


def test_where_the_app_is_shared_only_what_is_named_is_allowed(allow, monkeypatch):
    monkeypatch.setattr(limits, "is_shared", lambda: True)
    allow()
    assert not any_is_allowed()
    assert not any(map(is_allowed, NAMES))
    assert rule() == NONE
    allow("google-bert/*")
    assert any_is_allowed()
    assert [is_allowed(name) for name in NAMES] == [True, False, False, False]


def test_names_on_the_hub_by_patterns(allow):
    allow("google-bert/*", "gpt2")
    assert is_allowed("google-bert/bert-base-uncased")
    assert is_allowed("gpt2")
    for name in ("gpt2-large", "GPT2", "evil/google-bert", "google-bert/../x", "google-bert//x"):
        assert not is_allowed(name)


def test_folders_by_patterns(allow, tmp_path):
    for name in ("models/one", "models/two", "other"):
        (tmp_path / name).mkdir(parents=True)
    allow(f"{tmp_path}/models/*")
    assert is_allowed(f"{tmp_path}/models/one")
    assert is_allowed(f"{tmp_path}/models/one/")
    for name in ("other", "models/../other", "models", "models/one/../../other"):
        assert not is_allowed(f"{tmp_path}/{name}")
    assert not is_allowed("gpt2")


def test_a_link_out_of_an_allowed_folder_leads_nowhere(allow, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "models" / "link").symlink_to(tmp_path / "secret")
    allow(f"{tmp_path}/models/*")
    assert not is_allowed(f"{tmp_path}/models/link")


def test_an_allowed_folder_may_be_a_link_itself(allow, tmp_path):
    (tmp_path / "disk" / "one").mkdir(parents=True)
    (tmp_path / "models").symlink_to(tmp_path / "disk")
    allow(f"{tmp_path}/models/*")
    assert is_allowed(f"{tmp_path}/models/one")


def test_a_folder_with_the_name_of_an_allowed_model_is_none(allow, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    allow("*/*")
    assert is_allowed("some/model")
    (tmp_path / "some" / "model").mkdir(parents=True)
    assert not is_allowed("some/model")


def test_of_folders_outside_nothing_is_looked_at(allow, monkeypatch):
    allow("/models/*")

    def look(*_):
        raise AssertionError

    monkeypatch.setattr("os.path.realpath", look)
    monkeypatch.setattr("os.stat", look)
    assert not is_allowed("/etc/passwd")
    assert not is_allowed("~root/x")


ODD = st.text(st.characters() | st.sampled_from("\0\ud800/.~*[\\"), max_size=40)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=ODD)
@example(name="a\0b")
@example(name="\ud800")
@example(name="x" * 10_000)
def test_no_name_is_an_error_and_none_leads_out_of_an_allowed_folder(name, allow, tmp_path):
    (tmp_path / "models").mkdir(exist_ok=True)
    allow(f"{tmp_path}/models/*")
    for asked in (name, f"{tmp_path}/models/{name}", f"{tmp_path}/models/../{name}"):
        if is_allowed(asked):
            inside = f"{tmp_path.resolve()}/models/"
            assert os.path.realpath(asked).startswith(inside)


def test_the_rule_names_no_folder(allow):
    allow("google-bert/*", "/models/*")
    only = "Only models that the operator of this server allows can be opened here"
    assert rule() == f"{only}: google-bert/*."
    allow("/models/*")
    assert rule() == f"{only}."
