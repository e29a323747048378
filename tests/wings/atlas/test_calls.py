"""The atlas of the model in force: never one of other weights."""

import gc
import gzip
import json
import shutil
from weakref import ref

import pytest

from headlight.wings.atlas import calls as atlas
from headlight.wings.atlas.calls import (
    FOLDER,
    atlas_of,
    own_atlas,
    own_text,
    remove,
    shipped_atlas,
    shown_text,
    start,
    usual,
)
from tests.pages.sessions import end, session

pytestmark = pytest.mark.usefixtures("one_session")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the shipped atlas in the place of the shipped one."""
    copy = tmp_path / "atlas"
    shutil.copytree(FOLDER, copy)
    monkeypatch.setattr(atlas, "FOLDER", copy)
    shipped_atlas.clear()
    yield copy
    shipped_atlas.clear()


def test_the_shipped_model_has_the_shipped_atlas():
    result = atlas_of("en-fr")
    assert set(result.kinds) == {"encoder", "decoder", "cross"}
    assert atlas_of() is result
    assert f"{result.lines['counted']:,} sentences of Tatoeba's" in shown_text()


def test_another_model_has_none():
    assert atlas_of("en-fr-learned") is None
    assert shown_text("en-fr-learned") == ""
    assert usual("en-fr-learned", "broad", "encoder", 0, 0) is None


def test_an_atlas_of_other_weights_is_not_shown(folder):
    path = folder / "atlas.json.gz"
    data = json.loads(gzip.decompress(path.read_bytes()))
    data["about"]["weights"] = "0" * 64
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    assert atlas_of("en-fr") is None


def test_a_missing_or_damaged_atlas_is_none_at_all(folder):
    (folder / "atlas.json.gz").write_bytes(b"\x1f\x8bno")
    assert atlas_of("en-fr") is None


def test_what_is_usual_is_over_sentences():
    figure = atlas_of("en-fr").kinds["encoder"].figures["broad"]
    result = usual("en-fr", "broad", "encoder", 2, 3)
    assert result[:2] == (figure.of_sentences[2, 3], figure.deviation[2, 3])
    assert result.text == shown_text("en-fr")
    assert usual("en-fr", "diagonal", "encoder", 2, 3) is None


def finished():
    own = own_text().next
    own.job.join(100)
    return own_atlas()


def test_what_one_visitor_counted_no_other_sees():
    start(b"Go on.\tVa.\n")
    assert finished().atlas is atlas_of("en-fr")
    assert shown_text() == "your one line"
    assert usual("en-fr", "broad", "encoder", 0, 0).deviation == 0
    assert atlas_of("en-fr-learned") is None
    with session("two"):
        assert own_atlas() is None
        assert atlas_of("en-fr") is shipped_atlas()
    end("two")
    remove()
    assert atlas_of("en-fr") is shipped_atlas()


def test_a_refused_text_leaves_what_was_counted(monkeypatch):
    start(b"Go on.\tVa.\n")
    before = finished()
    with pytest.raises(ValueError, match="no text"):
        start(b"\n")
    assert own_atlas() is before


def test_a_count_ends_with_its_session():
    with session("two"):
        start(b"It rains, and it is cold.\n" * 2_000)
        job, count = own_text().next.job, ref(own_text())
    end("two")
    job.join(100)
    assert job.result is None
    gc.collect()
    assert count() is None
