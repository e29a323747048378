"""What a page's address does to the session, and the session to the address."""

from types import SimpleNamespace

import pytest

from headlight.model.edits import CellEdit, Edits
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.link import address as module
from headlight.pages.shared.state.choices import TOO_MANY
from tests.matrix import first_of
from tests.pages.apps import address, button, edited, go_back, go_to, open_page


def test_a_choice_is_written_into_the_address():
    app = open_page(kind="cross")
    app.segmented_control(key="layer").set_value(2).run()
    assert address(app) == {"v": "2", "layer": "3"}


def test_an_address_is_never_empty_for_that_is_a_click_on_another_page():
    assert address(open_page("positions")) == {"model": "en-fr"}


def test_an_address_of_version_1_is_written_anew():
    app = open_page(head="5", picture="lines")
    assert address(app) == {"v": "2", "head": "5", "picture": "lines"}
    assert not app.info


def test_back_and_forward_restore_the_choices():
    app = open_page(kind="cross")
    app.segmented_control(key="layer").set_value(2).run()
    go_back(app, v="2", head="5")
    assert app.selectbox(key="head").value == 4
    assert app.segmented_control(key="layer").value == 1
    go_back(app, v="2", layer="3")
    assert app.selectbox(key="head").value == "mean"
    assert app.segmented_control(key="layer").value == 2


def test_a_choice_after_going_back_is_kept():
    app = open_page()
    go_back(app, head="5")
    app.segmented_control(key="layer").set_value(0).run()
    app.run()
    assert app.segmented_control(key="layer").value == 0
    assert app.selectbox(key="head").value == 4


def test_an_address_the_browser_had_not_received_yet_changes_nothing():
    app = open_page(head="5")
    app.selectbox(key="head").set_value(5).run()
    app.query_params.clear()
    app.query_params.update({"head": "5"})
    app.segmented_control(key="layer").set_value(0).run()
    assert app.selectbox(key="head").value == 5


@pytest.mark.parametrize("page", first_of(PAGES))
def test_a_click_on_another_page_keeps_the_choices(page):
    app = open_page(head="5", sentence="We sing.")
    app.query_params.clear()
    go_to(app, page)
    assert not app.exception
    assert address(app)["sentence"] == "We sing."
    assert address(app)["head"] == "5"


def test_choices_of_a_page_are_kept_while_others_are_shown():
    app = open_page("masks")
    app.segmented_control(key="mask_kind").set_value("cross").run()
    app.selectbox(key="scope").set_value("head").run()
    for page in ("attention", "masks"):
        app.query_params.clear()
        go_to(app, page)
        app.run()
    assert app.segmented_control(key="mask_kind").value == "cross"
    assert address(app) == {"v": "2", "head": "1", "mask_kind": "cross", "scope": "head"}


def test_going_back_leaves_the_choices_of_other_pages_alone():
    app = open_page("masks", mask_kind="cross", target="Nous.")
    app.query_params.clear()
    go_to(app, "attention")
    go_back(app, v="2", layer="3")
    app.query_params.clear()
    go_to(app, "masks")
    assert address(app) == {
        "v": "2",
        "layer": "3",
        "head": "1",
        "mask_kind": "cross",
        "target": "Nous.",
    }


def test_edits_in_an_address_are_in_force_and_can_be_undone():
    app = open_page("masks", edits="look-ahead.off")
    assert not app.toggle(key="look-ahead").value
    button(app, "Undo").click().run()
    assert edited(app.toggle, "look-ahead").value
    assert "edits" not in address(app)
    assert "Undo" not in [one.label for one in app.button]


def test_edits_are_written_into_the_address():
    app = open_page("masks")
    app.toggle(key="look-ahead").set_value(False).run()
    assert address(app) == {"v": "2", "head": "1", "edits": "look-ahead.off"}


def test_edits_too_long_for_an_address_outlive_going_back():
    app = open_page("masks")
    cells = tuple(
        CellEdit("decoder", query, key, False)
        for query in range(1, 40)
        for key in range(query % 2, query, 2)
    )
    app.session_state["histories"] = {"en-fr": [Edits(), Edits(cells=cells)]}
    app.run()
    assert address(app)["edits"] == TOO_MANY
    assert any("too many for a link" in caption.value for caption in app.caption)
    go_back(app, **address(app))
    assert app.session_state["histories"]["en-fr"][-1].cells == cells
    elsewhere = open_page("masks", edits=TOO_MANY)
    assert any("too long" in info.value for info in elsewhere.info)
    assert elsewhere.toggle(key="look-ahead").value


@pytest.mark.parametrize(
    "parameters",
    [
        {"layer": "9"},
        {"edits": "gate.cross.9.9.0"},
        {"model": "own-1", "sentence": "8 3"},
        {"<script>alert(1)</script>": "1"},
        {"kind": "\x00"},
    ],
)
@pytest.mark.parametrize("page", ["attention", "model"])
def test_a_damaged_link_is_told_once_and_shows_the_defaults(page, parameters):
    app = open_page(page, **parameters)
    assert not app.exception
    assert not app.error
    assert any("damaged" in info.value for info in app.info)
    app.run()
    assert not any("damaged" in info.value for info in app.info)


@pytest.mark.parametrize("page", ["attention", "talk", "models"])
def test_a_choice_that_there_is_no_more_is_told_on_every_page(page):
    app = open_page(page, v="2", kind="both", gone="1", head="3")
    assert not app.exception
    assert next(text.value for text in app.text if "gone" in text.value) == "kind, gone"
    assert address(app) == {"v": "2", "head": "3"}


SCENE = {"v": "2", "sentence": "Is “it” <b>&?"}
QUERY = "v=2&sentence=Is+%E2%80%9Cit%E2%80%9D+%3Cb%3E%26%3F"


@pytest.mark.parametrize(
    ("url", "page", "link"),
    [
        ("http://localhost:8501/talk?talk=1", "masks", "http://localhost:8501/masks?"),
        ("http://localhost:8501/talk", "attention", "http://localhost:8501/?"),
        ("http://localhost:8501", "masks", "http://localhost:8501/masks?"),
        ("https://a.org/base/talk#x", "masks", "https://a.org/base/masks?"),
    ],
)
def test_a_scene_is_at_its_page_of_the_same_app(monkeypatch, url, page, link):
    monkeypatch.setattr(module.st, "context", SimpleNamespace(url=url))
    assert module.link_of(page, SCENE) == link + QUERY
    assert module.link_of("", {}) == ""


@pytest.mark.parametrize("url", [None, "", "javascript:alert(1)"])
def test_without_an_address_there_is_no_link(monkeypatch, url):
    monkeypatch.setattr(module.st, "context", SimpleNamespace(url=url))
    assert module.link_of("masks", SCENE) == ""


def test_an_address_of_this_machine_is_one_that_phones_cannot_reach():
    for host in ("localhost:8501", "127.0.0.1", "[::1]:8501"):
        assert module.is_of_this_machine(f"http://{host}/masks")
    for link in ("http://192.168.0.2:8501/", "https://localhost.org", ""):
        assert not module.is_of_this_machine(link)
