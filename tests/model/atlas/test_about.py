"""The identity of a count."""

import pytest

from model.atlas import about
from model.atlas.counting import Count, merge


def test_counts_by_other_code_do_not_merge(translator, monkeypatch):
    now = about.about_of(translator, "mine", "text", 8)
    assert now == about.about_of(translator, "mine", "text", 8)
    monkeypatch.setattr(about, "COUNTING", about.COUNTING[1:])
    about.code_version.cache_clear()
    changed = about.about_of(translator, "mine", "text", 8)
    about.code_version.cache_clear()
    with pytest.raises(ValueError, match="differ in their code"):
        merge(Count(now), Count(changed))


def test_comments_do_not_change_the_version(monkeypatch):
    version = about.code_version()
    source = about.getsource
    monkeypatch.setattr(about, "getsource", lambda module: f"# a comment\n{source(module)}\n")
    assert about.code_version.__wrapped__() == version
