"""The command: a count that is killed and goes on, parts that merge, and input of any kind."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from headlight.wings.atlas.__main__ import main
from headlight.wings.atlas.counting import CUT
from headlight.wings.atlas.files import COUNT, load_count
from headlight.wings.atlas.results import DEFINITIONS
from headlight.wings.atlas.statistics import ALL

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def text(tmp_path_factory, pairs):
    """A file of 80 lines, of which some cannot be counted."""
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    lines = [f"{source} {target}" if number % 3 else f"{source}\t{target}"
             for number in range(10) for source, target in pairs]  # fmt: skip
    lines[7] = ""
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def few(text):
    """The first 20 of these lines."""
    path = text.with_name("few.tsv")
    path.write_text("\n".join(text.read_text("utf-8").split("\n")[:20]), "utf-8")
    return path


@pytest.fixture
def atlas(folder, monkeypatch):
    """A function that runs the command here; it returns what it says if it gives up."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["atlas", "--model", str(folder), *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    return run


def assert_equal_counts(a, b):
    assert (a.windows, a.lines, a.texts, a.sample) == (b.windows, b.lines, b.texts, b.sample)
    for ours, theirs in ((a.sums, b.sums), (a.best, b.best)):
        assert ours.keys() == theirs.keys()
        for name, array in ours.items():
            np.testing.assert_array_equal(array, theirs[name], err_msg=name)


@pytest.mark.matrix
def test_a_count_that_is_killed_goes_on_as_if_it_had_not_been(folder, text, tmp_path, atlas):
    options = ["--text", text, "--window", 4, "--save-every", 0, "--effects", 0]
    assert atlas(*options, "--output", tmp_path / "whole") is None
    killed = tmp_path / "killed"
    words = [
        sys.executable,
        "-m",
        "headlight.wings.atlas",
        "--model",
        folder,
        *options,
        "--output",
        killed,
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(list(map(str, words)), cwd=ROOT, env=environment)
    while not (killed / COUNT).exists():
        assert process.poll() is None
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = load_count(killed).windows
    assert 0 < len(done) < 20
    assert atlas(*options, "--output", killed) is None
    assert_equal_counts(load_count(killed), load_count(tmp_path / "whole"))
    for name in ("atlas.json", "examples.json", "heads.tsv"):
        assert (killed / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_parts_merge_to_the_whole(few, tmp_path, atlas):
    options = ["--text", few, "--window", 4, "--effects", 0]
    assert atlas(*options, "--output", tmp_path / "whole") is None
    parts = [tmp_path / f"part {part}" for part in (1, 2, 3)]
    for part, output in zip((1, 2, 3), parts, strict=True):
        assert atlas(*options, "--part", f"{part}/3", "--output", output) is None
    merging = ["--merge", *parts[::-1], "--effects", 0, "--output", tmp_path / "merged"]
    assert atlas(*merging) is None
    whole, merged = load_count(tmp_path / "whole"), load_count(tmp_path / "merged")
    assert (merged.windows, merged.lines) == (whole.windows, whole.lines)
    assert (merged.texts, merged.sample) == (whole.texts, whole.sample)
    for name, array in whole.sums.items():
        np.testing.assert_allclose(merged.sums[name], array, rtol=1e-12, err_msg=name)
    twice = atlas("--merge", parts[0], parts[0], "--output", tmp_path / "twice")
    assert "is in both counts" in twice


def test_what_is_written_says_what_it_means(text, tmp_path, atlas, capsys):
    assert atlas("--text", text, "--output", tmp_path, "--effects", 4) is None
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "79 sentences counted"
    assert any(line.startswith("  1 line: empty; ") for line in told)
    assert any(f" lines: {CUT}" in line for line in told)
    data = json.loads((tmp_path / "atlas.json").read_text("utf-8"))
    assert [statistic["name"] for statistic in data["statistics"]] == [item.name for item in ALL]
    assert np.shape(data["kinds"]["cross"]["figures"]["entropy"]["mean"]) == (2, 4)
    effects = data["effects"]
    assert [definition["name"] for definition in effects["definitions"]] == [
        each.name for each in DEFINITIONS
    ]
    assert np.shape(effects["kinds"]["decoder"]["removal"]) == (2, 4)
    for curve in effects["curves"].values():
        assert len(curve["order"]) == len({tuple(head) for head in curve["order"]}) == 24
        assert len(curve["loss"]) == 25
        assert curve["loss"][-1] > curve["loss"][0]
        assert [removed for removed, _ in curve["BLEU"]] == list(range(0, 25, 3))
    heads = (tmp_path / "heads.tsv").read_text("utf-8").splitlines()
    assert len(heads) == 1 + 24
    assert len({line.count("\t") for line in heads}) == 1
    for example in json.loads((tmp_path / "examples.json").read_text("utf-8")):
        for kind, *_, weights in example["heads"]:
            queries = example["source" if kind == "encoder" else "target"]
            keys = example["target" if kind == "decoder" else "source"]
            assert np.shape(weights) == (len(queries), len(keys))
            assert np.all(np.abs(np.sum(weights, axis=-1) - 255) <= len(keys))


@pytest.mark.matrix
def test_effects_go_on_where_they_were(few, tmp_path, atlas):
    options = ["--text", few, "--effects", 6]
    assert atlas(*options, "--output", tmp_path / "a") is None
    assert atlas(*options, "--output", tmp_path / "a") is None
    assert atlas(*options, "--output", tmp_path / "b") is None
    again, once = ((tmp_path / name / "atlas.json").read_bytes() for name in "ab")
    assert again == once


def test_a_search_tells_where_heads_look(text, tmp_path, atlas, capsys, folder, monkeypatch):
    assert atlas("--text", text, "--output", tmp_path, "--effects", 0) is None
    capsys.readouterr()
    words = ["atlas", "--model", str(folder), "--output", str(tmp_path), "--search", "."]
    monkeypatch.setattr(sys, "argv", words)
    main()
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("From “.” in 20 sentences")
    assert all(" places, on “" in line for line in lines)
    weights = [float(line.split()[2]) for line in lines]
    assert weights == sorted(weights, reverse=True)
    assert "None of the sentences kept" in atlas("--output", tmp_path, "--search", "qwxyz")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "has no line of text to count, as it is empty."),
        (b"\n\n \n", "has no line of text to count (3 lines: empty)."),
        (b"\x89PNG\r\n\xff\n\xfe\0\n", "lines: not text in UTF-8"),
        (b"\x1f\x8bnot gzip", "is cut off or damaged after line 0"),
    ],
)
def test_what_is_no_text_is_refused_in_a_sentence(data, expected, tmp_path, atlas):
    path = tmp_path / "given"
    path.write_bytes(data)
    assert expected in atlas("--text", path, "--output", tmp_path / "out")


def test_what_is_not_there_is_refused_in_a_sentence(tmp_path, text, atlas):
    missing, out = tmp_path / "missing", tmp_path / "out"
    assert "is no file" in atlas("--text", missing, "--output", out)
    assert "--text" in atlas("--output", out)
    assert "holds no count" in atlas("--merge", missing, "--output", out)
    assert "2/4" in atlas("--text", text, "--part", "3/2", "--output", out)


def test_a_folder_with_another_count_is_refused(few, tmp_path, atlas):
    assert atlas("--text", few, "--output", tmp_path, "--effects", 0) is None
    other = tmp_path / "other"
    other.write_text("Another text.\n", "utf-8")
    assert "holds a count that differs in text and bytes" in atlas(
        "--text", other, "--output", tmp_path
    )
    assert "differs in window" in atlas("--text", few, "--window", 7, "--output", tmp_path)


def test_a_damaged_count_is_refused(text, tmp_path, atlas):
    (tmp_path / COUNT).write_bytes(b"PK\3\4 no more")
    assert "is no count of a corpus" in atlas("--text", text, "--output", tmp_path)


def test_a_full_disk_keeps_what_was_counted(text, tmp_path, atlas, monkeypatch):
    options = ["--text", text, "--window", 16, "--effects", 0, "--output", tmp_path]
    written, room = [], 3
    real = os.fsync

    def fsync(number):
        written.append(number)
        if len(written) > room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(number)

    monkeypatch.setattr("headlight.wings.atlas.files.os.fsync", fsync)
    said = atlas(*options, "--save-every", 0)
    assert "No space left on device. What was saved before is intact" in said
    assert load_count(tmp_path).windows == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == [COUNT]
