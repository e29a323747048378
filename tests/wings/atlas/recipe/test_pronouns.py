import gzip
import json
import shutil
import sys
from pathlib import Path

import pytest

from headlight.model.translator import PRETRAINED
from recipe.pronouns import main

ATLAS = PRETRAINED / "en-fr" / "atlas" / "atlas.json.gz"
SENTENCES = Path(__file__).parents[1] / "pronouns.tsv"


def run(monkeypatch, folder, *more):
    words = ["pronouns", "--sentences", str(SENTENCES), "--atlas", str(folder), *more]
    monkeypatch.setattr(sys, "argv", words)
    main()


@pytest.mark.parametrize("packed", [True, False])
def test_the_command_makes_the_shipped_figures(tmp_path, monkeypatch, packed):
    shipped = json.loads(gzip.decompress(ATLAS.read_bytes()))
    file = Path(shutil.copy(ATLAS, tmp_path))
    if not packed:
        file.unlink()
        file = tmp_path / "atlas.json"
        without = json.loads(json.dumps(shipped))
        del without["about"]["pronouns"], without["statistics"][-1]
        del without["kinds"]["encoder"]["figures"]["pronoun to its noun"]
        file.write_text(json.dumps(without), encoding="utf-8")
    run(monkeypatch, tmp_path)
    made = gzip.decompress(file.read_bytes()) if packed else file.read_bytes()
    assert json.loads(made) == shipped


def test_an_atlas_of_another_model_is_refused(tmp_path, monkeypatch):
    shutil.copy(ATLAS, tmp_path)
    with pytest.raises(SystemExit):
        run(monkeypatch, tmp_path, "--model", "en-fr-learned")
