import numpy as np
import pytest

from headlight.pages.shared.runs.run import ModelRun
from headlight.wings.cause import knockout
from headlight.wings.cause.calls import knocked_out, size_of

pytestmark = pytest.mark.usefixtures("one_session")
RUN = ModelRun("I love my cat.", model="en-fr-learned")


def quiet(*progress):
    """Take a report, and say nothing."""


def test_cells_fill_as_they_come(monkeypatch):
    monkeypatch.setattr(knockout, "ROWS_AT_ONCE", 2)
    told = []
    found = knocked_out(
        RUN, None, lambda found, share: told.append((share, np.isfinite(found.changes).mean()))
    )
    shares, known = zip(*told, strict=True)
    assert len(told) > 1
    assert shares == pytest.approx(known)
    assert shares[-1] == 1
    assert found.changes.shape == found.weights.shape == (len(found.written), len(found.words))
    assert np.isfinite(found.changes).all()


@pytest.mark.parametrize("name", ["GPT-2", "Marian"])
def test_the_size_is_about_that_of_what_is_run(name, loaded, transformers_folders):
    run = ModelRun("I love my cat.", model=loaded(transformers_folders[name]))
    runs, tokens = size_of(run)
    result = knocked_out(run, None, quiet)
    assert runs >= len(result.words)
    assert tokens >= len(result.written)
