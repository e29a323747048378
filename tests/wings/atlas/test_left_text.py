"""Nothing of a text that was counted is left in the process when its session has ended."""

import gc

import pytest

from headlight.wings.atlas.calls import own_text, start
from tests.pages.sessions import end, session
from tests.pages.test_left_text import holders, typed


@pytest.mark.matrix
def test_no_count_keeps_a_text_after_the_session():
    with session("one"):
        start("\n".join(f"{typed()}\tVa." for _ in range(5)).encode())
        job = own_text().next.job
        job.join(100)
        assert job.status == "finished"
        assert holders()
    del job
    end("one")
    gc.unfreeze()
    gc.collect()
    assert holders() == []
