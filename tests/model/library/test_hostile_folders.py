"""Folders of models that would do harm are refused where they are tried, each in one sentence."""

import shutil
import signal
import time

import pytest

from bench.hostile.damaging import RAN, mutated
from bench.hostile.forked_trials import SECONDS, ForkedTrials
from bench.hostile.model_folders import BOMBS, CHATS, DAMAGES, SLY
from tests.model.library.conftest import FOLDERS

GIGABYTE = 1_000_000_000
BROKE_DOWN = (signal.SIGABRT, signal.SIGSEGV)  # where Rust or C++ got no memory


@pytest.fixture(scope="module")
def trial():
    trials = ForkedTrials()
    yield trials
    trials.end()


@pytest.fixture(scope="module")
def good(make_bert_folder):
    return make_bert_folder()


@pytest.fixture
def folder(good, tmp_path):
    return shutil.copytree(good, tmp_path / "model")


@pytest.mark.parametrize("name", {**BOMBS, **DAMAGES})
def test_what_would_do_harm_is_refused_in_a_sentence(name, folder, trial):
    {**BOMBS, **DAMAGES}[name](folder)
    begun = time.monotonic()
    why, ended_by, taken = trial(folder)
    assert time.monotonic() - begun < SECONDS
    assert taken < 4 * GIGABYTE
    assert not (folder / RAN).exists()
    if why is None:
        assert ended_by in BROKE_DOWN
    else:
        assert why.endswith((".", "!"))
        assert "\n" not in why
        assert len(why) < 700


@pytest.mark.parametrize("name", SLY)
def test_what_is_ignored_by_rule_does_not_keep_a_model_from_being_loaded(name, folder, trial):
    SLY[name](folder)
    assert trial(folder)[:2] == (None, 0)
    assert not (folder / RAN).exists()


@pytest.mark.parametrize("name", CHATS)
def test_chat_templates_that_do_not_end_or_fail(name, transformers_folders, tmp_path, trial):
    folder = shutil.copytree(transformers_folders["GPT-2"], tmp_path / "model")
    CHATS[name](folder)
    why, _, _ = trial(folder)
    assert why.endswith(".")


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_changed_a_trial_ends_by_itself(seed, folder, trial):
    mutated(seed)(folder)
    why, ended_by, _ = trial(folder)
    assert ended_by == 0
    assert why is None or why.endswith((".", "!"))


@pytest.mark.parametrize("name", FOLDERS)
def test_good_models_pass(name, transformers_folders, trial):
    assert trial(transformers_folders[name])[:2] == (None, 0)


def test_a_good_bert_passes(good, trial):
    assert trial(good)[:2] == (None, 0)
