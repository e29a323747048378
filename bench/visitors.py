"""Visitors without a browser, who speak Streamlit's protocol over its websocket."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from urllib.parse import urlencode

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection, connect

FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
PATIENCE = 120  # seconds for one rerun
ADDRESS = "kind=cross&layer=2&head=1&picture=heatmap"  # the picture at which visitors look


@dataclass(frozen=True)
class Rerun:
    """The result of one action of a visitor, and the time it took."""

    sentence: str
    head: int  # from 1
    action: str  # "sentence", "head" or "link"
    seconds: float  # from sending the action until the server reports that its rerun is over
    bytes: int
    tokens: list[str]  # the source tokens that the page shows
    translation: str
    weights: np.ndarray  # (query, key) of the enlarged head


@dataclass
class Visitor:
    """A session on the Attention page; `async with` opens and closes its connection."""

    address: str  # http://...
    sentence: str = ""
    head: int = 1
    elements: dict[str, Element] = field(default_factory=dict)  # elements of the page, by key
    ids: dict[str, str] = field(default_factory=dict)  # Streamlit's ids of widgets, by key
    fragments: dict[str, str] = field(default_factory=dict)  # the fragment that a widget reruns
    connection: ClientConnection = field(init=False)

    async def __aenter__(self) -> Visitor:
        self.connection = await connect(
            f"ws{self.address.removeprefix('http')}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            compression=None,
            max_size=None,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.connection.close()

    async def arrive(self) -> None:
        """Open the page with a heatmap, and choose the first head."""
        await self.rerun({}, "", ADDRESS)
        await self.switch(1)

    async def follow(self, sentence: str) -> Rerun:
        """Open a link to a sentence, with the first head chosen."""
        self.sentence = sentence
        seconds, received = await self.rerun(
            {}, "", f"{ADDRESS}&{urlencode({'sentence': sentence})}"
        )
        return self.shown("link", seconds, received)

    async def edit(self, sentence: str) -> Rerun:
        """Enter a sentence; this reruns the whole page."""
        self.sentence = sentence
        return await self.act("sentence", sentence)

    async def switch(self, head: int) -> Rerun:
        """Choose a head, counted from 1; this reruns the part of the page that shows the head."""
        self.head = head
        return await self.act("head", str(head))

    async def act(self, key: str, value: str) -> Rerun:
        """Change a widget, and read what the page shows afterwards."""
        return self.shown(key, *await self.rerun({key: value}, self.fragments[key]))

    async def press(self, key: str) -> None:
        """Press a button; this reruns the part of the page that has the button."""
        await self.rerun({key: True}, self.fragments[key])

    def shown(self, action: str, seconds: float, received: int) -> Rerun:
        """Read what the page shows after an action."""
        tokens, translation = self.header("source")["chips"], self.header("target-tokens")["text"]
        return Rerun(
            self.sentence,
            self.head,
            action,
            seconds,
            received,
            [chip["text"] for chip in tokens],
            translation,
            heatmap(self.elements["heatmap"].bidi_component),
        )

    def header(self, key: str) -> dict:
        return header_of(self.elements[key].bidi_component)

    async def rerun(
        self, changed: Mapping[str, str | bool], fragment: str, address: str = ""
    ) -> tuple[float, int]:
        """Run the page with changed widgets; return the seconds it took and the bytes received.

        Raises RuntimeError if the page shows an error.
        """
        message = BackMsg()
        message.rerun_script.query_string = address
        message.rerun_script.fragment_id = fragment
        for key, value in changed.items():
            state = message.rerun_script.widget_states.widgets.add(id=self.ids[key])
            if isinstance(value, bool):
                state.trigger_value = value
            else:
                state.string_value = value
        begin = time.perf_counter()
        await self.connection.send(message.SerializeToString())
        received = 0
        async with asyncio.timeout(PATIENCE):
            while True:
                data = await self.connection.recv(decode=False)
                received += len(data)
                if self.finished(ForwardMsg.FromString(data)):
                    return time.perf_counter() - begin, received

    def finished(self, message: ForwardMsg) -> bool:
        """Process a message; return whether it says that a rerun is over."""
        kind = message.WhichOneof("type")
        if kind == "script_finished":
            if message.script_finished not in FINISHED:
                raise RuntimeError("A rerun did not finish.")
            return True
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self.take(message.delta.new_element, message.delta.fragment_id)
        return False

    def take(self, element: Element, fragment: str) -> None:
        """Keep an element if it has a key; raises RuntimeError if it shows an error."""
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"The page shows an error: {element.exception.message}")
        identity = getattr(getattr(element, kind or "", None), "id", "")
        # Streamlit's id of an element is $$ID-, a hash without hyphens, a hyphen and the key.
        key = identity.removeprefix("$$ID-").partition("-")[2]
        if key:
            self.elements[key], self.ids[key], self.fragments[key] = element, identity, fragment


def header_of(part: BidiComponent) -> dict:
    return unpack(part)[0]


def heatmap(part: BidiComponent) -> np.ndarray:
    """Return the numbers (query, key) of a heatmap."""
    header, array = unpack(part)
    shape = len(header["rows"]), len(header["columns"])
    return np.frombuffer(array, "<f4").reshape(shape)


def unpack(part: BidiComponent) -> tuple[dict, bytes]:
    """Return the JSON header and the bytes of the array of a canvas picture, without its menu."""
    data = part.bytes
    (menu,) = struct.unpack("<I", data[-4:])
    (length,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + length]), data[4 + length : -4 - menu]
