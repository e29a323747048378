"""A finished atlas, opened to be read."""

import gzip
import json

import numpy as np
import pytest

from headlight.model.corpus import CorpusLine, Window
from headlight.wings.atlas.counting import count_window
from headlight.wings.atlas.figures import as_data, clearest_pattern, divergences, figures
from headlight.wings.atlas.files import as_atlas, open_atlas
from headlight.wings.atlas.looking import examples


@pytest.fixture(scope="module")
def count(shipped, pairs):
    lines = [CorpusLine(number, *pair) for number, pair in enumerate(pairs[:6])]
    return count_window(shipped, Window(0, lines), {"text": "a"})


def assert_says(atlas, count):
    assert set(atlas.kinds) == {"encoder", "decoder", "cross"}
    for kind, known in atlas.kinds.items():
        for name, figure in figures(count, kind).items():
            for part, array in vars(figure).items():
                read = getattr(known.figures[name], part)
                assert (read is None) == (array is None)
                if array is not None:
                    np.testing.assert_allclose(read, array, rtol=1e-6, atol=1e-7, err_msg=name)
        np.testing.assert_allclose(known.distances, divergences(count, kind), rtol=1e-6)
        assert known.clearest == clearest_pattern(count, kind)
        assert known.removal is None


def test_figures_in_memory_are_those_of_the_count(shipped, count):
    atlas = as_atlas(as_data(count), list(examples(shipped, count)))
    assert_says(atlas, count)
    assert atlas.effects is None
    assert atlas.kinds["cross"].shares is None


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_is_opened_gzipped_or_not(tmp_path, shipped, count, packed):
    parts = {"atlas.json": as_data(count), "examples.json": list(examples(shipped, count))}
    for name, part in parts.items():
        data = json.dumps(part).encode()
        path = tmp_path / (f"{name}.gz" if packed else name)
        path.write_bytes(gzip.compress(data) if packed else data)
    atlas = open_atlas(tmp_path)
    assert_says(atlas, count)
    assert atlas.examples == json.loads(json.dumps(parts["examples.json"]))


def test_a_damaged_folder_is_refused_by_name(tmp_path):
    (tmp_path / "atlas.json.gz").write_bytes(gzip.compress(b"{}")[:12])
    with pytest.raises(ValueError, match=r"holds no atlas\.json that can be read"):
        open_atlas(tmp_path)
