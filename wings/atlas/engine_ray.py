"""Count a corpus on a Ray cluster: Ray Data streams windows of lines to actors with the model."""

from __future__ import annotations

import logging
import os
import pickle
import platform
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from headlight.model.corpus import Window
from headlight.model.library.hub import first_line
from headlight.model.library.loading import load_model
from headlight.model.memory import keep_few_kernels
from headlight.model.translator import shipped_models
from headlight.wings.atlas.counting import Count, count_window
from headlight.wings.atlas.files import digest_of

if TYPE_CHECKING:
    from ray.data import Dataset

NOT_INSTALLED = (
    "Ray is not installed: pip install -r requirements-corpus.txt, or leave out --engine ray."
)
FREE = 1  # processors left without an actor: Ray waits forever if all have one
PATIENCE = 10  # seconds to wait for a cluster's answer
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}

Row = dict[str, bytes]
Read = Callable[[], Iterator[Window]]


class Counter:
    """A Ray actor: it holds the model and counts one window after the other."""

    def __init__(self, model: str, about: dict[str, object]) -> None:
        keep_few_kernels()
        self.reader, self.about = load_model(model), about
        if digest_of(self.reader) != about["weights"]:
            raise ValueError(
                f"{model} on {platform.node()} has other weights than on this machine."
            )

    def __call__(self, row: Row) -> Row:
        """Return a row with a window's end in the file and its count; a row with an error stays."""
        result = pickle.loads(row["result"])
        if isinstance(result, Window):
            result = result.at, count_window(self.reader, result, self.about)
        return {"result": pickle.dumps(result)}


def rows_of(read: Read) -> Iterator[Row]:
    """Yield a file's windows as rows of Ray Data; the last row has the file's error, if any."""
    try:
        for window in read():
            yield {"result": pickle.dumps(window)}
    except (OSError, ValueError) as error:
        yield {"result": pickle.dumps(error)}


def counts_on_ray(
    read: Read, model: str, about: dict[str, object], address: str | None
) -> Iterator[tuple[int, Count]]:
    """Yield each window's end in the file and its count, in the order in which they arrive.

    `read` is only called on this machine. Without an `address`, Ray is started here and stopped at
    the end. Raises OSError if a cluster is missing or fails. An error of `read` is raised after all
    windows before it have arrived.
    """
    ray = started(address)
    wrong, seen = None, set()
    try:
        for row in streamed(read, model, about).iter_rows():
            result = pickle.loads(row["result"])
            if isinstance(result, Exception):
                wrong = result
            elif seen.isdisjoint(result[1].windows):
                seen.update(result[1].windows)
                yield result
    except ray.exceptions.RayError as error:
        *_, why = str(error).strip().splitlines()  # it follows a traceback
        raise OSError(f"Ray gave up: {why}") from error
    finally:
        ray.shutdown()
    if wrong is not None:
        raise wrong


def started(address: str | None) -> ModuleType:
    """Return Ray's module, connected to a cluster, or to a new one on this machine."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray.data
    except ImportError as error:
        raise OSError(NOT_INSTALLED) from error
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    own_cluster = {"include_dashboard": False, "num_cpus": max(FREE + 1, os.cpu_count() or 1)}
    try:
        if address:
            knock(address)
        ray.init(
            address=address or "local",
            log_to_driver=False,
            logging_level=logging.CRITICAL,
            **({} if address else own_cluster),
        )
    except Exception as error:  # some of Ray's errors have no class of their own
        what = f"Ray does not answer at {address}" if address else "Ray does not start here"
        raise OSError(f"{what}: {first_line(error)}") from error
    return ray


def knock(address: str) -> None:
    """Raise OSError unless a program listens at HOST:PORT; Ray itself would wait for minutes."""
    host, _, port = address.rpartition(":")
    if not (host and port.isdecimal()):
        raise OSError("an address is written like 192.0.2.1:6379.")
    socket.create_connection((host, int(port)), timeout=PATIENCE).close()


def streamed(read: Read, model: str, about: dict[str, object]) -> Dataset:
    """Return a dataset with the results of all windows; reading it computes them."""
    import ray.data

    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.target_max_block_size = 1  # bytes: this sends each result as soon as it is there
    there = ray.cluster_resources()
    processors, gpus = (int(there.get(name, 0)) for name in ("CPU", "GPU"))
    actors = gpus or max(1, processors - FREE)
    here = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
    return (
        ray.data.from_items([0])
        # This step claims no processor: else Ray merges it with the actors, and they do not run in
        # parallel.
        .flat_map(lambda _: rows_of(read), num_cpus=0, label_selector=here)
        .map(
            Counter,  # pyright: ignore[reportArgumentType]
            fn_constructor_args=(known_everywhere(model), about),
            compute=ray.data.ActorPoolStrategy(size=actors),
            num_cpus=1,
            num_gpus=1 if gpus else 0,
        )
    )


def known_everywhere(model: str) -> str:
    """Return a model's name, or the full path of its folder: actors work in another folder."""
    path = Path(model).expanduser()
    return model if model in shipped_models() or not path.exists() else str(path.resolve())
