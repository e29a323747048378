import asyncio
import re

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from headlight.pages.server import open_paths, serving
from headlight.pages.server.open_paths import answers_open_paths, leads_here, open_to_all
from headlight.pages.shared.runs import limits


@pytest.fixture
def visitor(monkeypatch):
    monkeypatch.setattr(open_paths, "_apps", {})
    open_to_all("open", PlainTextResponse("open"))
    return TestClient(answers_open_paths(PlainTextResponse("behind the door")))


def test_only_paths_that_begin_with_an_open_name_are_answered(visitor):
    for path in ("/open", "/open/", "/open/2-ABC/now?x=1"):
        assert visitor.get(path).text == "open"
    for path in ("/", "/opened", "/other/open", "//open", "/?open"):
        assert visitor.get(path).text == "behind the door"


def test_an_open_path_stands_below_the_address_of_the_app(visitor, options):
    options({"server.baseUrlPath": "lecture"})
    assert visitor.get("/lecture/open").text == "open"


def test_websockets_are_passed_on():
    passed = []

    async def app(scope, receive, send):
        passed.append(scope["type"])

    for kind in ("websocket", "lifespan"):
        asyncio.run(answers_open_paths(app)({"type": kind, "path": "/open"}, None, None))
    assert passed == ["websocket", "lifespan"]


def test_a_name_leads_to_the_worker_that_gave_it(monkeypatch):
    assert leads_here("ABC") == "ABC"
    monkeypatch.setattr(limits, "NUMBER", 12)
    assert leads_here("ABC") == "ABC"
    monkeypatch.setattr(limits, "WORKERS", 12)
    assert leads_here("ABC") == "12-ABC"
    config = serving.proxy_config(range(9001, 9013))
    ways = dict(re.findall(r"use-server (\w+) if \{ path_reg (\S+) \}", config))
    assert len(ways) == 12
    leading = [worker for worker, way in ways.items() if re.search(way, "/room/12-ABC/now")]
    assert leading == ["worker12"]
    [ignores] = re.findall(r"ignore-persist if \{ path_reg (\S+) \}", config)
    assert re.search(ignores, "/room/12-ABC/now")
    assert not re.search(ignores, "/room/ABC/now")
    assert not re.search(ignores, "/?sentence=/a/1-")
