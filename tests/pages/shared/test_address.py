"""What an address holds of a page's choices and gives back, and what it does to the session."""

from types import SimpleNamespace
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.model.edits import CellEdit, Edits, write_edits
from headlight.model.translator import load
from headlight.pages.parts.decoding.request import BRANCH
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared import address as module
from headlight.pages.shared.address import fits, read_parameters, write_parameters
from headlight.pages.shared.state.choices import COMMON, LONGEST_EDITS, LONGEST_SENTENCE, TOO_MANY
from tests.matrix import first_of
from tests.pages.apps import address, button, edited, go_back, go_to, open_page

SHAPE = load("en-fr").shape
# What some choice or other takes from a link, and does not have by default.
TEXTS = (
    "look-ahead.off~gate.cross.2.8.25", "gate.encoder.2.8.0~gate.encoder.12.1.35", "toy.20",
    "3,12", "en-fr-learned", "2:40.7:a b: é", "Hi <b> ~&=%20", "on", "off", "mean", "max", "20",
    "3", "2", "1", "0", "0.4", "0.05", "q8", "128", "encoder", "",
)  # fmt: skip


def long_branch(ids):
    return f"1:{'.'.join(['10000'] * ids)}:déjà vu"


def defaults(choices):
    return {choice.key: choice.default for choice in choices}


def other_text(choice):
    """What a link says for a choice that is not at its default."""
    for text in (*map(str, choice.options), *TEXTS):
        try:
            if choice.read(text, SHAPE) != choice.default:
                return text
        except ValueError:
            pass
    raise AssertionError(f"No text of this test fits {choice.key}: add one.")


def test_a_link_without_choices_is_empty_and_means_the_defaults():
    for page in PAGES.values():
        assert write_parameters(page.linked, defaults(page.linked)) == {}
        assert read_parameters({}, page.linked, SHAPE) == (defaults(page.linked), ())


def test_every_choice_of_a_page_is_in_its_link_and_restored_from_it():
    for page in PAGES.values():
        for choice in page.linked:
            asked = {choice.key: other_text(choice)}
            values, refused = read_parameters(asked, page.linked, SHAPE)
            assert not refused
            assert values[choice.key] != choice.default
            written = write_parameters(page.linked, values)
            assert set(written) == {"v", choice.key}
            assert read_parameters(written, page.linked, SHAPE) == (values, ())


def test_a_link_says_its_version():
    values = defaults(COMMON) | {"layer": 2}
    assert write_parameters(COMMON, values) == {"v": "2", "layer": "3"}


@pytest.mark.parametrize("version", [{}, {"v": "2"}])
def test_links_of_this_version_and_without_one_are_read(version):
    values, refused = read_parameters({**version, "layer": "3", "head": "5"}, COMMON, SHAPE)
    assert (values["layer"], values["head"], refused) == (2, 4, ())


@pytest.mark.parametrize("version", ["1", "3", "", "two"])
def test_another_version_is_told(version):
    assert read_parameters({"v": version}, COMMON, SHAPE) == (defaults(COMMON), ("v",))


@pytest.mark.parametrize(
    "parameters",
    [
        {"model": "own-0123"},
        {"model": "../en-fr"},
        {"layer": "6"},
        {"layer": "0"},
        {"layer": "-1"},
        {"layer": "two"},
        {"head": "9"},
        {"head": "median"},
        {"kind": "sideways"},
        {"mask_kind": "sideways"},
        {"head_number": "9"},
        {"pad_to": "257"},
        {"picture": "<script>"},
        {"own_scale": "True"},
        {"edits": "gate.cross.1.9.0"},
        {"sentence": ""},
        {"unheard-of": "1"},
        {"scope": "this layer, please"},
        {"toy_reverse_steps": "10.5"},
        {"toy_reverse_rate": "nan"},
        {"history_sentence": "6"},
    ],
)
def test_what_makes_no_sense_is_left_at_its_default_and_told(parameters):
    choices = {choice.key: choice for page in PAGES.values() for choice in page.linked}.values()
    read = read_parameters(parameters, choices, SHAPE)
    assert read == (defaults(choices), tuple(parameters))


@st.composite
def links(draw):
    """A page, and parameters as anyone may write them into its address."""
    page = draw(st.sampled_from(list(PAGES.values())))
    keys = st.sampled_from([choice.key for choice in page.linked])
    words = [str(key) for choice in page.linked for key in choice.options]
    texts = st.sampled_from([*TEXTS, *words]) | st.text()
    return page, draw(st.dictionaries(keys | st.text(max_size=9), texts))


@given(links())
def test_any_parameters_are_read_and_what_is_written_is_read_back(asked):
    page, parameters = asked
    values, refused = read_parameters(parameters, page.linked, SHAPE)
    assert set(values) == {choice.key for choice in page.linked}
    assert set(refused) <= set(parameters)
    again, left = read_parameters(
        write_parameters(page.linked, values, whole=True), page.linked, SHAPE
    )
    assert (again, left) == (values, ())


def test_a_sentence_too_long_for_the_box_is_cut_and_told():
    values, refused = read_parameters({"sentence": "a" * 100_000}, COMMON, SHAPE)
    assert values["sentence"] == "a" * LONGEST_SENTENCE
    assert refused == ("sentence",)


def test_edits_that_make_no_sense_are_left_out_of_the_others_and_told():
    edits = "gate.cross.2.5.0~nonsense~close.encoder.all.all.1-99999.1~look-ahead.off~~window"
    values, refused = read_parameters({"edits": edits}, COMMON, SHAPE)
    assert (values["edits"], refused) == ("gate.cross.2.5.0~look-ahead.off", ("edits",))


def test_edits_too_long_for_a_link_are_named_in_it_but_whole_in_a_talk():
    values = defaults(COMMON) | {"edits": "~".join(["gate.cross.1.1.0"] * 80)}
    assert len(values["edits"]) > LONGEST_EDITS
    assert write_parameters(COMMON, values)["edits"] == TOO_MANY
    assert write_parameters(COMMON, values, whole=True)["edits"] == values["edits"]


def test_the_link_of_thirty_words_with_edits_is_below_2000_characters():
    for page in PAGES.values():
        thirty = " ".join(["we", "don't", "walk", "to", "school", "déjà"] * 5)
        block = tuple(
            CellEdit("decoder", q, k, False) for q in range(3, 20) for k in range(0, q, 2)
        )
        gates = {("cross", layer, head): 0.35 for layer in range(3) for head in range(8)}
        values = {
            choice.key: choice.read(other_text(choice), SHAPE)
            for choice in page.linked
            if not choice.key.startswith("toy_") or "_dates_" in choice.key  # one task is chosen
        }
        values["edits"] = write_edits(Edits(off=("look-ahead",), gates=gates, cells=block))
        for name in ("sentence", "target", "inside_of", "inside_target"):
            values |= {name: thirty} if name in values else {}
        if "branch" in values:  # as long as a link takes it
            ids = next(n for n in range(90, 0, -1) if fits(BRANCH, long_branch(n)))
            values["branch"] = BRANCH.read(long_branch(ids), SHAPE)
        address = urlencode(write_parameters(page.linked, defaults(page.linked) | values))
        assert len(address) < 1_950


def test_a_choice_is_written_into_the_address():
    app = open_page(kind="cross")
    app.segmented_control(key="layer").set_value(2).run()
    assert address(app) == {"v": "2", "layer": "3"}


def test_an_address_is_never_empty_for_that_is_a_click_on_another_page():
    assert address(open_page("heads")) == {"model": "en-fr"}


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
    assert any("too many changes for a link" in caption.value for caption in app.caption)
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


@pytest.mark.parametrize("page", first_of(PAGES))
def test_a_choice_that_there_is_no_more_is_told_on_every_page(page):
    app = open_page(page, v="2", kind="both", gone="1", head="3")
    assert not app.exception
    assert next(text.value for text in app.text if "gone" in text.value) == "kind, gone"
    now = address(app)
    assert now.items() >= {"v": "2", "head": "3"}.items()
    assert not {"kind", "gone"} & now.keys()


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
