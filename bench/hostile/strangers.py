"""Visitors who send a server what no browser sends, and look for an error in the answers."""

from __future__ import annotations

import asyncio
import time

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed

from bench.visitors import PATIENCE, Visitor

QUIET = 2.0  # seconds after which an answer is no longer expected


class Stranger(Visitor):
    """A session that knows only the server's address."""

    async def open(self, page: str, query: str) -> float:
        """Open a page by its address; return the seconds until it was drawn.

        Raises RuntimeError if the page shows an error, TimeoutError if it does not come.
        """
        message = BackMsg()
        message.rerun_script.page_name = page
        message.rerun_script.query_string = query
        begin = time.perf_counter()
        await self.connection.send(message.SerializeToString())
        if error := await self.run_over(PATIENCE):
            raise error
        return time.perf_counter() - begin

    async def send(self, data: bytes) -> None:
        """Send a message that Streamlit may accept, ignore, answer with an error, or hang up on."""
        try:
            await self.connection.send(data)
            await self.run_over(QUIET)
        except TimeoutError:
            pass
        except ConnectionClosed:
            await self.__aenter__()

    async def run_over(self, seconds: float) -> RuntimeError | None:
        """Read until a run is over; return the last error that the page shows, if any.

        Raises TimeoutError if no run ends.
        """
        error = None
        async with asyncio.timeout(seconds):
            while True:
                message = ForwardMsg.FromString(await self.connection.recv())
                kind = message.WhichOneof("type")
                if kind == "script_finished":
                    return error
                if kind == "delta" and message.delta.HasField("new_element"):
                    try:
                        self.take(message.delta.new_element, message.delta.fragment_id)
                    except RuntimeError as shown:
                        error = shown

    def take(self, element: Element, fragment: str) -> None:
        """Keep an element that has a key in the app, and the name by which it answers."""
        super().take(element, fragment)
        if element.WhichOneof("type") == "bidi_component" and element.bidi_component.id:
            identity = element.bidi_component.id
            self.ids[f"{identity} events"] = f"$$STREAMLIT_INTERNAL_KEY_{identity}__events"
