"""Find out where a notebook runs, and show the app of the notebook's process in a frame."""

from __future__ import annotations

import html
import json
import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

HUB = "JUPYTERHUB_SERVICE_PREFIX"  # a JupyterHub's variable: the path of a person's server
LINK = (
    'The app is at <a href="{address}" target="_blank" rel="noopener">{address}</a>. {why} '
    "Only who has this link, with its token, can open it."
)
WHY = {
    "jupyter": (
        "It shows here if this notebook is open on the machine that runs it, by the name localhost "
        "or 127.0.0.1. Elsewhere forward port {port} to your machine, or install "
        "jupyter-server-proxy, and open the link."
    ),
    "proxy": "It shows here by way of jupyter-server-proxy, which the server has to have.",
    "vscode": "VS Code shows no app in a cell: open the link in a browser.",
    "colab": (
        "Colab shows no app in a cell, and may not let through the connection that it needs; the "
        "pictures of headlight show themselves in cells."
    ),
}
FRAME = (
    '<iframe id="{name}" title="Headlight" width="100%" height="760" style="border: 0" hidden '
    'allow="clipboard-write; fullscreen"></iframe><p id="{name}-link">{link}</p>'
    "<script>({script})({given})</script>"
)
# A browser sends the app's cookie in a frame only if frame and notebook have the same host.
SCRIPT = """({ name, port, query, prefix, proxied }) => {
  const frame = document.getElementById(name);
  const link = document.querySelector(`#${name}-link a`);
  const isLocal = ["localhost", "127.0.0.1"].includes(location.hostname);
  const config = document.getElementById("jupyter-config-data")?.textContent;
  const base = prefix || (config && JSON.parse(config).baseUrl) || document.body.dataset.baseUrl;
  const way = new URL(`${(base || "").replace(/\\/*$/, "/")}proxy/${port}/`, location.origin);
  const throughProxy = proxied && (prefix || !isLocal);
  if (!/^https?:$/.test(location.protocol) || (!throughProxy && !isLocal)) return;
  const address = throughProxy ? way.href : `http://${location.hostname}:${port}/`;
  link.href = link.textContent = frame.src = address + query;
  frame.hidden = false;
}"""

Kind = Literal["jupyter", "proxy", "vscode", "colab"]


@dataclass(frozen=True)
class Place:
    """The program that shows a notebook."""

    kind: Kind
    prefix: str = ""  # the path of this person's server on a JupyterHub

    @property
    def framing(self) -> str:
        """The origins, besides the app's own, whose pages may show the app in a frame."""
        local = self.kind == "jupyter" or (self.kind == "proxy" and not self.prefix)
        return "http://localhost:* http://127.0.0.1:*" if local else ""

    @property
    def hosts(self) -> list[str]:
        """Patterns of the host names that a request may give for the app; empty: only this machine.

        A proxy gives its own host name, and that is not known here. The token protects the app
        anyway.
        """
        return ["*"] if self.kind in ("proxy", "colab") else []


def place() -> Place:
    """Return where this process runs, as far as its modules and environment tell."""
    if "google.colab" in sys.modules:
        return Place("colab")
    if "VSCODE_PID" in os.environ and HUB not in os.environ:
        return Place("vscode")
    prefix = os.environ.get(HUB, "")
    return Place("proxy" if prefix or find_spec("jupyter_server_proxy") else "jupyter", prefix)


def frame(where: Place, name: str, port: int, query: str) -> str:
    """Return HTML with a link to the app and, where possible, the app in a frame.

    `name` identifies the frame among those of a notebook; `query` begins with "?".
    """
    address = address_of(where, port) + query
    why = html.escape(WHY[where.kind].format(port=port))
    link = LINK.format(address=html.escape(address), why=why)
    if where.kind in ("vscode", "colab"):
        return f"<p>{link}</p>"
    given = {"name": name, "port": port, "query": query, "prefix": where.prefix}
    text = json.dumps({**given, "proxied": where.kind == "proxy"}).replace("<", "\\u003c")
    return FRAME.format(name=name, link=link, script=SCRIPT, given=text)


def address_of(where: Place, port: int) -> str:
    """Return the address, without a query, at which a browser reaches the app from a notebook."""
    if where.kind == "colab":
        return proxied_by_colab(port)
    if where.kind == "proxy" and where.prefix:
        host = os.environ.get("JUPYTERHUB_PUBLIC_URL", "").partition("/user/")[0].rstrip("/")
        return f"{host}{where.prefix.rstrip('/')}/proxy/{port}/"
    return f"http://localhost:{port}/"


def proxied_by_colab(port: int) -> str:
    """Return the address that Colab gives to a port of its machine."""
    from importlib import import_module

    output = import_module("google.colab.output")
    return str(output.eval_js(f"google.colab.kernel.proxyPort({port})")).rstrip("/") + "/"
