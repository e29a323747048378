"""A Ray cluster counts what one process does; and what needs no Ray: its actors, and refusals."""

import contextlib
import gzip
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from headlight.model.corpus import windows
from headlight.model.library.loading import load_model
from headlight.wings.atlas import engine_ray
from headlight.wings.atlas.counting import Count, count_window, merge
from headlight.wings.atlas.engine_ray import Counter, counts_on_ray, knock, rows_of
from headlight.wings.atlas.files import COUNT, digest_of, load_count
from tests.wings.atlas.test_command import ROOT, assert_equal_counts

LINES_AT_ONCE = 4
PATIENCE = 300  # seconds


@pytest.fixture(scope="module")
def reader(folder):
    return load_model(folder)


@pytest.fixture(scope="module")
def text(tmp_path_factory, pairs):
    """A file of 320 pairs."""
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs * 40), "utf-8")
    return path


def through(actor, rows):
    return [pickle.loads(actor(row)["result"]) for row in rows]


def test_an_actor_counts_as_one_process_does(reader, folder, text):
    about = {"weights": digest_of(reader)}
    read = partial(windows, text, 100)
    result = through(Counter(str(folder), about), rows_of(read))
    for window, (at, count) in zip(read(), result, strict=True):
        assert at == window.at
        assert_equal_counts(count, count_window(reader, window, about))


def test_an_actor_with_other_weights_counts_nothing(folder):
    with pytest.raises(ValueError, match="other weights than on this machine"):
        Counter(str(folder), {"weights": "others"})


def test_windows_that_come_twice_are_counted_once(folder, reader, text, monkeypatch):
    def twice(read, model, about):
        actor = Counter(model, about)
        rows = [actor(row) for row in rows_of(read) for _ in range(2)]
        return SimpleNamespace(iter_rows=lambda: reversed(rows))

    ray = SimpleNamespace(shutdown=lambda: None, exceptions=SimpleNamespace(RayError=RuntimeError))
    monkeypatch.setattr(engine_ray, "started", lambda address: ray)
    monkeypatch.setattr(engine_ray, "streamed", twice)
    about = {"weights": digest_of(reader)}
    result = list(counts_on_ray(partial(windows, text, 100), str(folder), about, None))
    assert [count.windows for _, count in result] == [[3], [2], [1], [0]]


def test_a_file_that_breaks_off_is_counted_to_there(tmp_path, text, reader, folder):
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(text.read_bytes())[:-20])
    rows = rows_of(partial(windows, path, 100))
    *whole, wrong = through(Counter(str(folder), {"weights": digest_of(reader)}), rows)
    assert whole
    assert "is cut off or damaged after line" in str(wrong)


def test_without_ray_it_says_what_to_install(monkeypatch, folder, text):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(OSError, match=r"pip install -r requirements-corpus\.txt"):
        next(counts_on_ray(partial(windows, text, 100), str(folder), {}, None))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "[::1]:99999"])
def test_a_cluster_that_is_not_there_is_told_at_once(address):
    with pytest.raises((OSError, OverflowError)):
        knock(address)


@pytest.fixture
def cluster(monkeypatch):
    """A cluster of two nodes on this machine, of a processor each."""
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="Ray is not installed")
    with tempfile.TemporaryDirectory(prefix="ray") as place:  # short, for the names of sockets
        monkeypatch.setenv("RAY_TMPDIR", place)
        Path(place, "ray").mkdir()  # where the cluster's address is written, without a look
        options = {"include_dashboard": False, "temp_dir": place}
        result = cluster_utils.Cluster()
        try:
            add_node(result, num_cpus=1, **options)
            add_node(result, num_cpus=1, **options)
            yield result
        finally:
            result.shutdown()


def add_node(cluster, **options):
    """Add a node. Ray gives it 30 seconds to start, which a busy machine may not reach at once."""
    for _ in range(5):
        with contextlib.suppress(Exception):
            return cluster.add_node(**options)
    return cluster.add_node(**options)


def actors(cluster):
    """The processes of a cluster's actors that count."""
    nodes = [cluster.head_node, *cluster.worker_nodes]
    raylets = {node.all_processes["raylet"][0].process.pid for node in nodes}
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True)
    results = [line.split(maxsplit=2) for line in listed.stdout.splitlines()[1:]]
    return [
        int(pid) for pid, parent, name in results if int(parent) in raylets and "Counter" in name
    ]


def wait_for(state, process):
    ends = time.monotonic() + PATIENCE
    while not state():
        assert process.poll() is None
        assert time.monotonic() < ends
        time.sleep(0.01)


@pytest.mark.matrix
def test_a_killed_worker_loses_nothing_and_counts_nothing_twice(
    cluster, folder, text, reader, tmp_path
):
    words = ["--model", folder, "--text", text, "--window", LINES_AT_ONCE, "--effects", 0]
    words += ["--output", tmp_path, "--save-every", 0, "--engine", "ray"]
    words += ["--address", cluster.address]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HOME": str(tmp_path / "home")}
    process = subprocess.Popen(
        [sys.executable, "-m", "headlight.wings.atlas", *map(str, words)], cwd=ROOT, env=environment
    )
    wait_for((tmp_path / COUNT).exists, process)
    killed = actors(cluster)[0]
    os.kill(killed, signal.SIGKILL)
    done = len(load_count(tmp_path).windows)
    assert process.wait(PATIENCE) == 0
    result = load_count(tmp_path)
    whole = Count(result.about)
    for window in windows(text, LINES_AT_ONCE):
        whole = merge(whole, count_window(reader, window, result.about))
    assert 0 < done < len(whole.windows)
    assert result.sums.keys() == whole.sums.keys()
    for name, array in whole.sums.items():  # added in another order
        np.testing.assert_allclose(result.sums[name], array, rtol=1e-12, err_msg=name)
    assert_equal_counts(replace(result, sums=whole.sums), whole)
