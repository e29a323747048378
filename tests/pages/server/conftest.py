import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from streamlit import config


@pytest.fixture
def options(monkeypatch):
    """Sets options of Streamlit for a test."""
    given, known = {}, config.get_option
    monkeypatch.setattr(config, "get_option", lambda name: given.get(name, known(name)))
    return given.update


@pytest.fixture
def client():
    """A factory of browsers before an app that answers "inside", by a name of the server."""

    def make(middleware, name="localhost:8501", scheme="http"):
        inside = middleware(everything)
        return TestClient(inside, base_url=f"{scheme}://{name}", follow_redirects=False)

    return make


async def everything(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "inside"})
    else:
        await PlainTextResponse("inside")(scope, receive, send)
