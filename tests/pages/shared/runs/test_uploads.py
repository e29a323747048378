"""Uploaded checkpoints: read once, refused once, and within bounds of memory."""

import gc
from dataclasses import replace

import pytest

from headlight.pages.shared.runs import training
from headlight.pages.shared.runs.training import NoRoomError, uploaded
from headlight.pages.shared.state.models import Workshop
from tests import archives
from tests.pages.sessions import end, session

WIDE = replace(archives.SMALL, d_model=256, d_ff=1_024)  # some megabytes
ZEROS = archives.zeros(WIDE)
OTHER = archives.zeros(replace(WIDE, d_ff=1_000))

pytestmark = pytest.mark.usefixtures("one_session")


@pytest.fixture(autouse=True)
def mine(monkeypatch):
    """The workshop of the visitor, and nothing taken by visitors of other tests."""
    mine = Workshop()
    monkeypatch.setattr(training, "workshop", lambda: mine)
    monkeypatch.setattr(training, "_taken", type(training._taken)())
    return mine


@pytest.fixture
def reads(monkeypatch):
    """The files that were read, with whether they were read to the end."""
    reads, unpack = [], training.unpack_checkpoint

    def watched(data, reserve):
        reads.append(False)
        translator = unpack(data, reserve)
        reads[-1] = True
        return translator

    monkeypatch.setattr(training, "unpack_checkpoint", watched)
    return reads


def taken():
    gc.collect()
    return sum(training._taken.values())


def test_a_file_is_read_once_however_often_the_page_is_drawn(reads):
    assert uploaded(ZEROS) is uploaded(ZEROS)
    assert reads == [True]
    assert uploaded(OTHER) is not uploaded(ZEROS)
    assert reads == [True] * 3


def test_a_refusal_is_remembered_for_the_session_and_for_it_alone(reads):
    damaged = archives.many_dimensions(100_000)
    for _ in range(3):
        with pytest.raises(ValueError, match="The weights lack"):
            uploaded(damaged)
    assert reads == [False]
    with session("two"), pytest.raises(ValueError, match="The weights lack"):
        uploaded(damaged)
    assert reads == [False, False]
    end("two")


def test_what_a_model_takes_is_counted_in_memory_until_it_is_let_go():
    uploaded(ZEROS)
    parameters = sum(weight.numel() for weight in uploaded(ZEROS).model.parameters())
    assert 4 * parameters < taken() < 8 * parameters
    assert len(ZEROS) < taken() / 500
    training.let_go()
    assert taken() == 0


def test_a_model_that_is_used_stays_counted_when_another_is_uploaded(mine):
    mine.models["own-1"] = None, uploaded(ZEROS)
    one = taken()
    uploaded(OTHER)
    assert one < taken() < 2.1 * one


def test_a_visitor_has_a_bound_and_may_go_on_when_a_model_was_removed(mine, monkeypatch, reads):
    monkeypatch.setattr(training.limits, "UPLOAD_MEGABYTES", 12)
    mine.models["own-1"] = None, uploaded(ZEROS)
    for _ in range(2):
        with pytest.raises(
            NoRoomError, match=r"takes \d+ MB, .* may take 12 MB .*Remove some on the page Models"
        ):
            uploaded(OTHER)
    mine.models.clear()
    assert uploaded(OTHER)
    assert reads == [True, False, False, True]


def test_all_visitors_together_have_a_bound_that_a_session_leaves_with_its_end(monkeypatch):
    monkeypatch.setattr(training.limits, "ALL_UPLOADS_MEGABYTES", 12)
    uploaded(ZEROS)
    with session("two"):
        with pytest.raises(NoRoomError, match=r"of all visitors may take 12 MB .*Try again later"):
            uploaded(ZEROS)
        end("one")
        assert uploaded(ZEROS)
    end("two")
    assert taken() == 0


def test_a_model_that_is_too_large_for_the_bound_is_refused_before_memory_is_taken(monkeypatch):
    monkeypatch.setattr(training.limits, "UPLOAD_MEGABYTES", 1)
    monkeypatch.setattr("headlight.model.archive.assemble", None)
    with pytest.raises(NoRoomError, match=r"takes \d+ MB"):
        uploaded(ZEROS)
