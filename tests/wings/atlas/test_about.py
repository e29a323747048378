"""The identity of a count."""

import pytest

from headlight.wings.atlas import files
from headlight.wings.atlas.counting import Count, merge


@pytest.mark.matrix
def test_counts_by_other_code_do_not_merge(translator, monkeypatch):
    now = files.about_of(translator, "mine", "text", 8)
    assert now == files.about_of(translator, "mine", "text", 8)
    monkeypatch.setattr(files, "COUNTING", files.COUNTING[1:])
    files.code_version.cache_clear()
    changed = files.about_of(translator, "mine", "text", 8)
    files.code_version.cache_clear()
    with pytest.raises(ValueError, match="differ in their code"):
        merge(Count(now), Count(changed))


def test_comments_do_not_change_the_version(monkeypatch):
    version = files.code_version()
    source = files.getsource
    monkeypatch.setattr(files, "getsource", lambda module: f"# a comment\n{source(module)}\n")
    assert files.code_version.__wrapped__() == version
