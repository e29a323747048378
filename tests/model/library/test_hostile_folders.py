"""Folders of models that would do harm are refused where they are tried, each in one sentence."""

import json
import os
import resource
import shutil
import signal
import time

import pytest

from bench.hostile.damaging import RAN
from bench.hostile.model_folders import BOMBS, CHATS, DAMAGES, SLY
from model.library.trial import Request
from model.library.trial_process import tried
from tests.model.library.conftest import FOLDERS

SECONDS = 60  # of one trial on a busy computer, most of which take a tenth of one
GIGABYTE = 1_000_000_000


def trial_of(folder):
    """What a trial of a folder in a process of its own says, and how much memory it took.

    The process is a copy of this one, which has imported everything.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(2)
        why = tried(Request("The model", str(folder), 4_000, SECONDS))
        os.write(writing, json.dumps(why).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        answer = answers.read()
    _, status = os.waitpid(child, 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert os.WIFEXITED(status) or os.WTERMSIG(status) in (signal.SIGABRT, signal.SIGSEGV)
    return json.loads(answer) if answer else "It broke down.", max(before, after) * 1024


@pytest.fixture(scope="module")
def good(make_bert_folder):
    return make_bert_folder()


@pytest.fixture
def folder(good, tmp_path):
    return shutil.copytree(good, tmp_path / "model")


@pytest.mark.parametrize("name", {**BOMBS, **DAMAGES})
def test_what_would_do_harm_is_refused_in_a_sentence(name, folder):
    {**BOMBS, **DAMAGES}[name](folder)
    begun = time.monotonic()
    why, taken = trial_of(folder)
    assert time.monotonic() - begun < SECONDS
    assert taken < 4 * GIGABYTE
    assert why.endswith((".", "!"))
    assert "\n" not in why
    assert len(why) < 700
    assert not (folder / RAN).exists()


@pytest.mark.parametrize("name", SLY)
def test_what_is_ignored_by_rule_does_not_keep_a_model_from_being_loaded(name, folder):
    SLY[name](folder)
    assert trial_of(folder)[0] is None
    assert not (folder / RAN).exists()


@pytest.mark.parametrize("name", CHATS)
def test_chat_templates_that_do_not_end_or_fail(name, transformers_folders, tmp_path):
    folder = shutil.copytree(transformers_folders["GPT-2"], tmp_path / "model")
    CHATS[name](folder)
    why, _ = trial_of(folder)
    assert why is not None
    assert why.endswith(".")


@pytest.mark.parametrize("name", FOLDERS)
def test_good_models_pass(name, transformers_folders):
    assert trial_of(transformers_folders[name])[0] is None


def test_a_good_bert_passes(good):
    assert trial_of(good)[0] is None
