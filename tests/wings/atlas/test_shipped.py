"""The shipped atlas is the shipped model's: a small part of it is made anew."""

import numpy as np
import pytest

from headlight.model.corpus import CorpusLine
from headlight.model.translator import PRETRAINED
from headlight.wings.atlas.files import digest_of, open_atlas
from headlight.wings.atlas.looking import in_bytes, traced
from headlight.wings.atlas.statistics import STATISTICS, per_sentence

FOLDER = PRETRAINED / "en-fr" / "atlas"
LARGEST = 2_000_000  # bytes
EVERY = 4  # of the examples


@pytest.fixture(scope="module")
def atlas():
    return open_atlas(FOLDER)


def test_the_atlas_is_small():
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < LARGEST


def test_the_atlas_is_of_the_shipped_weights_and_of_all_pairs(shipped, atlas):
    assert atlas.about["weights"] == digest_of(shipped)
    assert atlas.lines == {"counted": 162_072}
    kinds = {kind: list(shape) for kind, shape in shipped.shape.kinds.items()}
    assert kinds == atlas.about["kinds"]
    assert set(atlas.effects["curves"]) == {"removal", "importance"}
    for kind, shape in shipped.shape.kinds.items():
        assert np.isfinite(atlas.kinds[kind].removal).all()
        assert atlas.kinds[kind].importance.shape == shape


def test_its_examples_have_the_models_own_weights_and_scores(shipped, atlas):
    statistics = {statistic.name: statistic for statistic in STATISTICS}
    for example in atlas.examples[::EVERY]:
        trace, rows = traced(shipped, CorpusLine(*example["line"]))
        assert [token.text for token in trace.source_tokens] == example["source"]
        assert [token.text for token in trace.target_tokens] == example["target"]
        for kind, layer, head, name, _, score, weights in example["heads"]:
            result = np.array(in_bytes(rows[kind], layer, head))
            assert np.abs(result - weights).max() <= 1
            total, count = per_sentence(statistics[name], rows[kind])
            assert float(total[layer, 0, head] / count[layer, 0, head]) == pytest.approx(
                score, abs=1e-5
            )


def test_the_models_page_says_where_its_examples_are_from(atlas):
    words = (PRETRAINED / "en-fr" / "README.md").read_text(encoding="utf-8")
    said = words.partition("## The atlas")[2].partition("\n## ")[0]
    assert f"{atlas.lines['counted']:,}" in said
    assert f"{len(atlas.examples)} of the pairs as examples" in said
    for part in ("CC BY 2.0 FR", "tatoeba.org", "www.manythings.org/anki", "--effects 300"):
        assert part in said
