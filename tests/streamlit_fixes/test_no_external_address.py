import pytest
from streamlit import net_util
from streamlit.web.server import server_util

from headlight.pages.streamlit_fixes.no_external_address import ask_no_other_host

FOREIGN = "https://page.example"


@pytest.fixture
def asked(monkeypatch):
    """The addresses that Streamlit asks over the network."""
    addresses = []
    monkeypatch.setattr(net_util, "get_external_ip", net_util.get_external_ip)  # given back after
    monkeypatch.setattr(net_util, "_external_ip", None)
    monkeypatch.setattr(
        net_util, "_make_blocking_http_get", lambda address, **_: addresses.append(address)
    )
    return addresses


def test_no_other_host_is_asked_for_an_address(asked):
    ask_no_other_host()
    assert not server_util.is_url_from_allowed_origins(FOREIGN)
    assert not asked


def test_streamlit_still_asks_one(asked):
    server_util.is_url_from_allowed_origins(FOREIGN)
    assert asked, "Streamlit asks no other host: delete no_external_address.py."
