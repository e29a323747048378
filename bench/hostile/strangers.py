"""Visitors who send a server what no browser sends, and look for an error in what comes back."""

from __future__ import annotations

import asyncio
import time
from typing import Literal

from google.protobuf.message import DecodeError
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed

from bench.visitors import PATIENCE, Visitor


class Stranger(Visitor):
    """A session of which nothing is known but the address of the server."""

    async def open(self, page: str, query: str) -> float:
        """Open a page by its address; return the seconds until it was drawn.

        Raises RuntimeError if the page shows an error, TimeoutError if it does not come.
        """
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        return await self.ask(message.SerializeToString())

    async def ask(self, data: bytes) -> float:
        """Send a message; return the seconds until the run that it begins is over.

        It is 0 for what begins none. What cannot be read is answered by Streamlit, with an error on
        this page alone, or the end of the connection. Raises RuntimeError if the page shows an
        error of another kind, TimeoutError if no run ends.
        """
        begin, kind, error = time.perf_counter(), kind_of(data), None
        if kind == "unknown":
            return 0.0
        try:
            await self.connection.send(data)
            async with asyncio.timeout(PATIENCE):
                is_over = False
                while not is_over:
                    message = ForwardMsg.FromString(await self.connection.recv())
                    is_over = message.WhichOneof("type") == "script_finished"
                    if message.WhichOneof("type") == "delta" and message.delta.HasField(
                        "new_element"
                    ):
                        try:
                            self.take(message.delta.new_element, message.delta.fragment_id)
                        except RuntimeError as shown:
                            error = shown
        except ConnectionClosed:
            await self.__aenter__()
        if error and kind == "run":
            raise error
        return time.perf_counter() - begin

    def take(self, element: Element, fragment: str) -> None:
        """Keep an element that the app has named, and the name by which it answers."""
        super().take(element, fragment)
        if element.WhichOneof("type") == "bidi_component" and element.bidi_component.id:
            identity = element.bidi_component.id
            self.ids[f"{identity} events"] = f"$$STREAMLIT_INTERNAL_KEY_{identity}__events"


def kind_of(data: bytes) -> Literal["run", "damaged", "unknown"]:
    """Return whether these bytes have the page run, cannot be read, or say nothing that we know."""
    try:
        kind = BackMsg.FromString(data).WhichOneof("type")
    except DecodeError:
        return "damaged"
    return "run" if kind == "rerun_script" else "unknown"
