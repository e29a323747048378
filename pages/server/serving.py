"""Serves the app by several processes, the workers, behind one address.

HAProxy sends every visitor to a worker, and always to the same one. A worker that ends is started
again; meanwhile its visitors go to another one, with the choices in their address.
"""

import asyncio
import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.request import urlopen

from streamlit import config

from headlight.pages.server.announce import announcement
from headlight.pages.server.door import access_token
from headlight.pages.server.guards import framing_origins
from headlight.pages.server.handles import raise_limit
from headlight.pages.shared.runs.limits import BEHIND, WORKER
from headlight.pages.streamlit_fixes.own_address import load_config_options
from headlight.pages.streamlit_fixes.paths import READY, public

APP = Path(__file__).resolve().parents[2] / "app.py"
TEMPLATE = Path(__file__).with_name("haproxy.cfg").read_text(encoding="utf-8")
COOKIE = "headlight_worker"
WHERE = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"))
NO_PROXY = (
    "Several workers need HAProxy in front of them. Install it, for example by "
    "`apt-get install haproxy`, `dnf install haproxy` or `brew install haproxy`, or start a single "
    "process by `headlight --share`."
)
NOT_UP = "{name} did not start; its messages are above."
AGAIN = "  {name} ended ({code}) and is started again."
LONGEST_END = 10.0  # seconds after which a process that should end is killed
SOONEST = 1.0  # the fewest seconds between two starts of one process
LOOK = 0.1  # seconds between two checks of whether a worker is ready
PR_SET_PDEATHSIG = 1  # a constant of Linux's prctl.h


def proxy_config(ports: Sequence[int]) -> str:
    """Return HAProxy's configuration for workers that listen on these ports."""
    return TEMPLATE.format(
        address=f"{config.get_option('server.address')}:{config.get_option('server.port')}",
        cookie=COOKIE,
        ready=public(READY),
        named=f"^{public('/[^/]+/[0-9]+-')}",
        framed="SameSite=None; Partitioned" if framing_origins() else "SameSite=Lax",
        workers="\n".join(
            f"    use-server worker{number} if {{ path_reg ^{public('/[^/]+/')}{number}- }}\n"
            f"    server worker{number} 127.0.0.1:{port} cookie {number}"
            for number, port in enumerate(ports, 1)
        ),
    )


def environment(workers: int) -> dict[str, str]:
    """Return the environment of all workers: they share a cookie secret and know their number."""
    secret = {"STREAMLIT_SERVER_COOKIE_SECRET": secrets.token_hex(32)}
    address = config.get_option("server.address")
    return secret | os.environ | {"HEADLIGHT_WORKERS": str(workers), BEHIND: address}


def worker_command(port: int, options: Sequence[str]) -> list[str]:
    """Return the command that starts a worker, which can be reached from this machine only."""
    own = ("--server.address", "127.0.0.1", "--server.port", str(port), "--server.headless", "true")
    return [sys.executable, "-m", "streamlit", "run", str(APP), *options, *own]


def free_ports(count: int) -> list[int]:
    """Return this many ports of this machine on which nothing listens."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def end_with_parent() -> None:
    """Have the system end this process when its parent ends; this only works on Linux."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


async def keep_running(name: str, command: Sequence[str], environ: Mapping[str, str]) -> None:
    """Start a process, and start it again whenever it ends; end it when this task is cancelled.

    Raises RuntimeError if the process fails at its first start.
    """
    has_run = False
    while True:
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=APP.parent,
            env=environ,
            stdin=DEVNULL,
            start_new_session=True,  # so that only the parent gets Ctrl+C; it ends all workers
            preexec_fn=end_with_parent,
        )
        try:
            code = await process.wait()
        finally:
            await ended(process)
        if code > 0 and not has_run:
            raise RuntimeError(NOT_UP.format(name=name))
        has_run = True
        print(AGAIN.format(name=name, code=code), file=sys.stderr, flush=True)
        await asyncio.sleep(max(0.0, SOONEST - (time.monotonic() - began)))


async def ended(process: Process) -> None:
    """End a process if it is still running."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), LONGEST_END)
    except TimeoutError:
        process.kill()
        await process.wait()


async def open_when_up(proxy: Sequence[str], ports: Sequence[int]) -> None:
    """Start the proxy once every worker is ready, and print who can open the app."""
    for port in ports:
        while not await asyncio.to_thread(is_up, f"http://127.0.0.1:{port}{public(READY)}"):
            await asyncio.sleep(LOOK)
    print(announcement(sys.stdout.isatty()), flush=True)
    await keep_running("The proxy", proxy, os.environ)


def is_up(address: str) -> bool:
    with contextlib.suppress(OSError), urlopen(address, timeout=5):
        return True
    return False


async def serve(workers: int, options: Sequence[str], proxy: str) -> None:
    """Keep the workers and their proxy running until this process gets a signal to end."""
    ports, environ = free_ports(workers), environment(workers)
    loop, this = asyncio.get_running_loop(), asyncio.current_task()
    assert this is not None  # a coroutine always runs in a task
    for told in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(told, this.cancel)
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(asyncio.CancelledError):
        file = Path(folder, "haproxy.cfg")
        file.write_text(proxy_config(ports), encoding="utf-8")
        async with asyncio.TaskGroup() as group:
            for number, port in enumerate(ports, 1):
                command, own = worker_command(port, options), environ | {WORKER: str(number)}
                group.create_task(keep_running(f"Worker {number}", command, own))
            group.create_task(open_when_up([proxy, "-db", "-f", str(file)], ports))


def run(workers: int, options: Sequence[str]) -> None:
    """Serve the app by several processes, with options of `streamlit run`, until it is stopped.

    Raises OSError or OverflowError if the proxy cannot listen on its address.
    """
    load_config_options(settings(options))
    address, port = config.get_option("server.address"), config.get_option("server.port")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    socket.create_server((address, int(port)), family=family).close()
    raise_limit()
    proxy = shutil.which("haproxy", path=WHERE)
    if proxy is None:
        sys.exit(NO_PROXY)
    try:
        access_token()
        asyncio.run(serve(workers, options, proxy))
    except* (RuntimeError, ValueError) as errors:
        sys.exit("\n".join(map(str, errors.exceptions)))


def settings(options: Sequence[str]) -> dict[str, str]:
    """Return the values of command line options, `--name value` or `--name=value`, by name."""
    words = [word for option in options for word in option.split("=", 1)]
    return {
        name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=False)
    }
