"""Open the app inside the process of a notebook or script, on models in its memory."""

from __future__ import annotations

import atexit
import os
import secrets
import time
from functools import cache
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import streamlit
import uvicorn
from streamlit import config

from headlight import frames
from headlight.pages.server import door, guards, serving
from headlight.pages.shared.runs import limits
from headlight.pages.streamlit_fixes.own_address import load_config_options

if TYPE_CHECKING:
    from headlight.model.reader import Reader

HOST = "127.0.0.1"
LOOK = 0.05  # seconds between two checks that the server runs


class Shown:
    """A model in the app's list of models, until `close` removes it.

    A notebook displays this object as the app in a frame, or as a link where it can show no frame.
    """

    def __init__(self, name: str, where: frames.Place, port: int, query: str) -> None:
        self.name, self.where, self.port, self.query = name, where, port, query
        self.address = frames.address_of(where, port) + query

    def __repr__(self) -> str:
        return f"Headlight on {self.name}: {self.address}"

    def _repr_html_(self) -> str:
        return frames.frame(self.where, f"headlight-{secrets.token_hex(4)}", self.port, self.query)

    def close(self) -> None:
        """Remove the model from the app's list, and free its memory."""
        from headlight.pages.shared.runs.shelf import shelf

        shelf().hide(self.name)


def show(reader: Reader, text: str = "") -> Shown:
    """Open the app on a model in memory and a text, for this machine only; print its address.

    The app runs in this process, with the weights of `reader` itself, and ends with the process.
    Only people with the address can open it; in a notebook, the result displays the app in a frame.
    Raises ValueError for a model that `open_model` has not opened yet.
    """
    if not hasattr(reader, "example"):
        raise ValueError("Open the model first: show(open_model(model, tokenizer)).")
    where = frames.place()
    port = server(where)
    from headlight.pages.shared.runs.shelf import shelf
    from headlight.pages.shared.state.models import LIBRARY

    name = shelf().show(reader)
    asked = {
        door.PARAMETER: door.access_token(),
        "model": LIBRARY + name,
        "sentence": text or reader.example,
    }
    asked = {key: value for key, value in asked.items() if value}
    shown = Shown(name, where, port, f"?{urlencode(asked)}")
    print(shown, flush=True)  # programs that read a script's output wait for the address
    return shown


@cache
def server(where: frames.Place) -> int:
    """Serve the app from a thread of this process; return its port."""
    os.environ.setdefault(door.VARIABLE, secrets.token_urlsafe(12))
    os.environ.setdefault(guards.EMBED, where.framing)
    limits.GUEST = True
    (port,) = serving.free_ports(1)
    config._main_script_path = str(serving.APP)
    options = {"server.address": HOST, "server.port": port, "server.headless": True}
    if where.hosts:
        options["server.allowedHosts"] = where.hosts
    load_config_options(options)
    from headlight.pages.server.start import BEFORE_PAGES, prepared

    app = streamlit.App(Path(serving.APP), middleware=BEFORE_PAGES, lifespan=prepared)
    served = uvicorn.Server(
        uvicorn.Config(app, host=HOST, port=port, log_level="warning", access_log=False)
    )
    thread = Thread(target=served.run, name="headlight", daemon=True)
    thread.start()
    while not served.started:
        if not thread.is_alive():
            raise RuntimeError("The server of Headlight did not start; its messages are above.")
        time.sleep(LOOK)

    @atexit.register
    def end() -> None:
        served.should_exit = True
        thread.join(serving.LONGEST_END)

    return port
