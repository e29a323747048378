"""python -m bench.rerun: what the server spends its time on for one new sentence.

A visitor without a browser enters sentences on the Attention page, each new to the server, which
runs in this process. The times are CPU times, which depend little on what else runs: for one
sentence, the time of the thread that runs the page, against that of the whole server. The time of a
part does not include the other parts that it calls.

- `writing`: the model translates, token by token.
- `reading`: the model reads sentence and translation once more, and everything is recorded.
- `keeping`: the sizes of results are counted in bytes, and results are kept for the session.
- `pictures`: pictures are packed, with the menus that save them.
- `parts`: Streamlit mounts what the browser draws; `messages`: it turns everything into messages.
- `choices`: choices are drawn, checked and kept; `sidebar`, `link`: the links to other pages, and
  the address that contains the choices.
- `page`: everything else on the page.
- `sending`: the work of other threads, which send the messages.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from threading import Thread
from urllib.request import urlopen

import streamlit
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.web import cli

from bench.load import sentence_of
from bench.performance import meaning, page_options, publish
from bench.report import Case
from bench.visitors import Visitor

WARMING, MEASURED = 10, 60  # numbers of sentences: entered before measuring, and measured


class Split:
    """The CPU milliseconds of each part, without those of the parts that it calls."""

    def __init__(self) -> None:
        self.parts: dict[str, float] = defaultdict(float)
        self.inner = [0.0]  # for each call under way, the time of timed calls within it

    def of(self, part: str, function: Callable) -> Callable:
        """Return a function that does the same, and adds the time it takes to a part."""

        @wraps(function)
        def timed(*args: object, **kwargs: object) -> object:
            self.inner.append(0.0)
            begin = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                taken = 1000 * (time.thread_time() - begin)
                self.parts[part] += taken - self.inner.pop()
                self.inner[-1] += taken

        return timed

    def time(self, part: str, owner: object, name: str) -> None:
        """Add the time of all calls of the function `name` of an object or module to a part."""
        setattr(owner, name, self.of(part, getattr(owner, name)))


def watch(split: Split) -> None:
    """Time the parts of a page's run; call this before pages import the functions by name."""
    split.time("parts", streamlit, "_bidi_component")
    split.time("messages", ScriptRunContext, "enqueue")
    split.time("page", script_runner.ScriptRunner, "_run_script")
    from headlight.pages.shared.widgets import choose

    split.time("choices", choose, "choose")
    from headlight.pages.shared.show import pictures

    split.time("pictures", pictures, "show")
    from headlight.model.translator import Translator
    from headlight.pages.shared import address
    from headlight.pages.shared.frame import frame
    from headlight.pages.shared.runs import door

    split.time("writing", Translator, "write")
    split.time("reading", Translator, "trace")
    split.time("keeping", door, "size_of")
    split.time("sidebar", frame, "sidebar")
    for name in ("restore", "note", "publish"):
        split.time("link", address, name)


async def visit(address: str, split: Split) -> list[Case]:
    """Enter sentences; return what each part of the server takes for one sentence."""
    async with Visitor(address) as visitor:
        await visitor.arrive()
        for number in range(WARMING):
            await visitor.edit(sentence_of(0, number))
        split.parts.clear()
        whole, own = time.process_time(), time.thread_time()
        for number in range(WARMING, WARMING + MEASURED):
            await visitor.edit(sentence_of(0, number))
        own = time.thread_time() - own  # this thread's time is the visitor's
        server = 1000 * (time.process_time() - whole - own) / MEASURED
    most_first = sorted(split.parts.items(), key=lambda item: -item[1])
    shares = {part: taken / MEASURED for part, taken in most_first}
    shares["sending"] = server - sum(shares.values())
    return [Case(part, taken, server, "ms", taken / server) for part, taken in shares.items()]


def main() -> None:
    """Measure and report, then end the server."""
    options = page_options().parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address, split = f"http://127.0.0.1:{port}", Split()
    watch(split)

    def measure() -> None:
        try:
            while not is_up(address):
                time.sleep(0.1)
            cases = asyncio.run(visit(address, split))
            publish(cases, options, "One sentence on the server", meaning(__doc__))
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=measure, daemon=True).start()
    sys.argv = ["streamlit", "run", "app.py", "--server.headless", "true", "--server.port"]
    sys.argv += [str(port), "--server.address", "127.0.0.1", "--logger.level", "warning"]
    cli.main()


def is_up(address: str) -> bool:
    try:
        with urlopen(f"{address}/_stcore/health", timeout=5):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    main()
