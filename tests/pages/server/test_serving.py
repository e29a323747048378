import asyncio
import re
import sys

import pytest

from headlight.pages.server import serving
from headlight.pages.server.guards import is_behind_proxy, is_own
from headlight.pages.shared.runs.limits import BEHIND, is_shared, of_this_worker, open_to_others
from headlight.pages.streamlit_fixes.paths import HEALTH, public


def test_the_proxy_is_told_where_it_listens_and_where_the_workers_do(options):
    options({"server.address": "0.0.0.0", "server.port": 8600})
    told = serving.proxy_config([9001, 9002])
    assert "bind 0.0.0.0:8600\n" in told
    assert re.findall(r"server (\w+) 127\.0\.0\.1:(\d+) cookie (\d)", told) == [
        ("worker1", "9001", "1"),
        ("worker2", "9002", "2"),
    ]
    assert "SameSite=None" not in told


def test_in_frames_of_other_hosts_a_visitor_stays_with_a_worker_too(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_EMBED", "https://slides.example.org")
    assert r"\1; SameSite=None; Partitioned; Secure" in serving.proxy_config([9001])


def test_the_health_path_stands_below_the_address_of_the_app(options):
    assert public(HEALTH) == "/_stcore/health"
    options({"server.baseUrlPath": "/lecture/"})
    assert public(HEALTH) == "/lecture/_stcore/health"


def test_workers_share_a_secret_that_nobody_else_has(monkeypatch):
    name = "STREAMLIT_SERVER_COOKIE_SECRET"
    monkeypatch.delenv(name, raising=False)
    first, second = serving.environment(2), serving.environment(2)
    assert first["HEADLIGHT_WORKERS"] == "2"
    assert len(first[name]) == 64
    assert first[name] != second[name]
    monkeypatch.setenv(name, "that of several machines")
    assert serving.environment(2)[name] == "that of several machines"


def test_who_gets_in_is_as_the_proxy_listens(monkeypatch, options):
    options({"server.address": "127.0.0.1"})
    assert not is_behind_proxy()
    assert not is_own("192.0.2.7:8501")
    monkeypatch.setenv(BEHIND, "0.0.0.0")
    assert is_behind_proxy()
    assert open_to_others()
    assert is_own("192.0.2.7:8501")
    assert not is_own("elsewhere.example.org")
    monkeypatch.setenv(BEHIND, "localhost")
    assert not open_to_others()
    assert is_shared()


def test_what_all_visitors_may_take_is_split_over_the_workers(monkeypatch):
    assert of_this_worker(2000) == 2000
    monkeypatch.setattr("headlight.pages.shared.runs.limits.WORKERS", 4)
    assert of_this_worker(2000) == 500
    assert of_this_worker(1) == 1


def test_options_are_read_as_streamlit_writes_them():
    given = ["--server.port", "8600", "--server.address=::", "--logger.level", "warning"]
    read = {"server.port": "8600", "server.address": "::", "logger.level": "warning"}
    assert serving.settings(given) == read


def test_without_a_proxy_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(serving, "WHERE", str(tmp_path))
    monkeypatch.setattr(serving, "load_config_options", lambda options: None)
    with pytest.raises(SystemExit, match="apt-get install haproxy"):
        serving.run(2, [])


def test_a_process_is_started_again_until_it_is_told_to_end(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(serving, "SOONEST", 0.0)
    starts = tmp_path / "starts"
    starts.touch()
    program = f"""
import os, time
with open({str(starts)!r}, "a") as file:
    file.write("x")
    if file.tell() < 3:
        file.flush()
        os.kill(os.getpid(), 9)
time.sleep(60)
"""

    async def watch():
        command = [sys.executable, "-c", program]
        kept = asyncio.create_task(serving.keep_running("It", command, {}))
        while len(starts.read_text()) < 3:
            await asyncio.sleep(0.01)
        kept.cancel()
        with pytest.raises(asyncio.CancelledError):
            await kept

    asyncio.run(watch())
    assert capfd.readouterr().err.count("It ended (-9) and is started again.") == 2


def test_a_process_that_cannot_start_ends_it_all():
    command = [sys.executable, "-c", "raise SystemExit('The port is taken.')"]
    with pytest.raises(RuntimeError, match="It did not start"):
        asyncio.run(serving.keep_running("It", command, {}))
