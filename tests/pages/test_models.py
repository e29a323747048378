"""The page Models: what is in memory, and what a visitor loads, is theirs to look at."""

from itertools import product

import pytest

from headlight.model.checkpoint import save_checkpoint
from headlight.model.library.loading import load_bert
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.runs import limits
from headlight.pages.shared.runs.shelf import NONE, shelf
from headlight.pages.shared.state.models import DEFAULT, LIBRARY, CatalogEntry, Workshop, short
from headlight.viz.numbers import power_text
from tests.matrix import first_of
from tests.pages.apps import address, button, go_to, loaded, new_app, open_page, open_with
from tests.pages.pictures import heatmaps
from tests.pages.test_every_model import PAGES as OF_A_MODEL

FIRST, SECOND = "the cat was playing.", "unbelievable dogs!"
OWN = CatalogEntry("own-1", "Mine", ("I love my cat.",), "input", "output")


@pytest.fixture(scope="module")
def folder(make_bert_folder):
    return make_bert_folder()


@pytest.fixture
def app():
    app = open_page("models")
    assert not app.exception
    return app


def ask_for(app, name):
    """Type a name, press Load, and wait for what comes of it."""
    app.text_input(key="wanted").set_value(str(name))
    button(app, "Load").click().run()
    return loaded(app)


def press(app, what, key):
    """Press a button of one model of the list."""
    app.button(key=f"{what} {key}").click().run()
    assert not app.exception
    return app


def listed(app):
    """The keys of the models in the list."""
    begins = "look at "
    return [
        item.key.removeprefix(begins)
        for item in app.button
        if item.key and item.key.startswith(begins)
    ]


def said(app):
    return " ".join(
        element.value for element in (*app.text, *app.caption, *app.markdown, *app.info)
    )


def test_the_shipped_models_are_there_with_their_sizes(app, shipped):
    assert listed(app)[0] == DEFAULT
    count = sum(parameter.numel() for parameter in shipped.model.parameters())
    assert f"{count:,} parameters" in said(app)
    assert "Encoder 5 × 8, Decoder, masked 3 × 8, Cross-attention 3 × 8" in said(app)
    assert not [item for item in app.button if item.label == "Remove"]


def test_a_suggestion_is_put_into_the_box_and_loads_nothing(app):
    kinds = ("gpt2", "bert-base", "opus-mt", "t5-small", "sst-2")
    options = app.menu_button(key="suggestion").options
    assert all(any(kind in name for name in options) for kind in kinds)
    app.menu_button(key="suggestion").click("openai-community/gpt2").run()
    assert app.text_input(key="wanted").value == "openai-community/gpt2"
    assert not app.session_state["loading"]


def test_a_loaded_model_is_chosen_and_shown_on_the_first_page(app, folder):
    key = LIBRARY + str(folder)
    assert key in listed(ask_for(app, folder))
    assert address(app)["model"] == key
    assert str(folder) in [text.value for text in app.text]
    assert "Encoder 3 × 4." in said(app)
    assert heatmaps(go_to(app, "attention"))[0][1]["rows"][0] == "[CLS]"


def test_what_a_model_can_and_cannot_do_is_said(app, folder):
    words = said(ask_for(app, folder))
    assert "fill in hidden words" in words
    assert "Write: A BERT reads a text and does not write one." in words


def test_another_model_is_looked_at_on_the_first_page(app, folder):
    ask_for(app, folder)
    press(app, "look at", "en-fr-learned")
    assert go_to(app, "attention").selectbox(key="model").value == "en-fr-learned"


def test_a_model_that_is_removed_leaves_the_list_and_gives_way_to_the_default(app, folder):
    ask_for(app, folder)
    press(app, "remove", LIBRARY + str(folder))
    assert LIBRARY + str(folder) not in listed(app)
    assert address(app).get("model", DEFAULT) == DEFAULT
    assert go_to(app, "attention").selectbox(key="model").value == DEFAULT


def test_a_model_of_ones_own_can_be_removed(translator):
    app = new_app()
    app.session_state["workshop"] = Workshop(models={OWN.key: (OWN, translator)})
    go_to(app, "models")
    assert OWN.key in listed(app)
    assert OWN.key not in listed(press(app, "remove", OWN.key))


def test_a_model_is_on_the_list_of_the_visitor_who_named_it_alone(app, folder):
    ask_for(app, folder)
    other = open_page("models")
    assert listed(other) == [DEFAULT, "en-fr-learned"]
    assert str(folder) not in said(other)


def test_of_three_models_the_last_ones_stay_and_the_first_can_be_loaded_again(make_bert_folder):
    folders = [make_bert_folder(seed=10 + number) for number in range(limits.MODELS + 1)]
    app = open_page("models")
    for folder in folders:
        ask_for(app, folder)
    key = LIBRARY + str(folders[0])
    assert key in listed(app)
    assert "is not in memory" in said(app)
    loaded(press(app, "load", key))
    assert "is not in memory" in said(app), "another one made room"
    assert shelf().get(str(folders[0]))


def test_the_difference_from_transformers_is_measured_on_the_text(folder):
    app = open_with(folder, "models", sentence=FIRST, second=SECOND)
    assert "Largest differences" not in said(app)
    measured = load_bert(folder).parity(FIRST, SECOND)
    press(app, "measure", LIBRARY + str(folder))
    (words,) = [
        caption.value for caption in app.caption if caption.value.startswith("Largest differences")
    ]
    assert f"{power_text(measured.outputs)} in the last hidden states" in words
    assert f"{power_text(measured.weights)} in the weights" in words
    labels = [each.label for each in app.button]
    assert "Same numbers as transformers?" not in labels, "the answer is in its place"


def test_the_licence_is_that_of_the_front_matter_and_nothing_else_is_shown(make_bert_folder):
    folder = make_bert_folder(seed=3)
    card = "---\nlicense: apache-2.0\n---\n<script>alert(1)</script> **[click](https://a.b)**\n"
    (folder / "README.md").write_text(card, encoding="utf-8")
    words = said(ask_for(open_page("models"), folder))
    assert "Licence: apache-2.0" in words
    assert "alert" not in words


def test_what_cannot_be_loaded_is_said_as_text_and_the_page_goes_on(app, folder, tmp_path):
    ask_for(app, folder)
    for name in (tmp_path, "no such **name**", tmp_path / "nothing"):
        ask_for(app, name)
        assert app.error[0].value == "This model could not be loaded."
        assert any(text.value.startswith(str(name)) for text in app.text)
        assert address(app)["model"] == LIBRARY + str(folder)
    app.run()
    assert not app.error
    (tmp_path / "config.json").write_text("{}")
    ask_for(app, tmp_path)
    assert any("model_type" in text.value for text in app.text), "a failure is not remembered"


def test_an_address_alone_loads_nothing(make_bert_folder):
    name = str(make_bert_folder(seed=7))
    app = open_page(model=LIBRARY + name)
    assert not heatmaps(app)
    assert any("is not in memory" in text.value for text in app.text)
    button(app, "Load it").click().run()
    assert heatmaps(loaded(app))
    assert address(app)["model"] == LIBRARY + name
    assert heatmaps(open_page(model=LIBRARY + name)), "what is in memory need not be loaded again"


def test_the_list_of_models_leads_here(app):
    app = open_page("attention")
    app.selectbox(key="model").set_value("another").run()
    assert app.title[0].value == "Models"
    assert address(app).get("model", DEFAULT) == DEFAULT


def test_a_shared_app_opens_only_models_that_its_operator_names(monkeypatch, folder, tmp_path):
    monkeypatch.setattr(limits, "is_shared", lambda: True)
    monkeypatch.setattr(limits, "MODELS_ALLOWED", (str(folder),))
    app = open_page("models")
    assert "Only models that the operator of this server allows" in app.info[0].value
    ask_for(app, tmp_path)
    assert any(text.value.startswith(f"{tmp_path} cannot be opened.") for text in app.text)
    assert LIBRARY + str(folder) in listed(ask_for(app, folder))


def test_a_shared_app_whose_operator_names_no_model_opens_no_other(monkeypatch):
    monkeypatch.setattr(limits, "is_shared", lambda: True)
    app = open_page("models")
    assert not app.exception
    assert app.info[0].value == NONE
    assert not app.text_input
    assert listed(app)[0] == DEFAULT
    assert "another" not in open_page("attention").selectbox(key="model").options


def test_a_model_that_comes_while_another_page_is_shown_is_listed_there(folder):
    app = open_page("attention")
    job = app.session_state["loading"] = shelf().ask(str(folder))
    job.join()
    app.run()
    box = app.selectbox(key="model")
    assert box.value == DEFAULT
    assert short(str(folder)) in box.options


@pytest.fixture(scope="module")
def saved(tmp_path_factory, translator):
    """The unzipped download of a model that translates."""
    folder = tmp_path_factory.mktemp("saved")
    save_checkpoint(folder, translator.model, translator.tokenizer)
    return folder


def test_every_page_takes_a_checkpoint_of_ones_own(app, saved):
    expect_on_every_page(ask_for(app, saved))


def expect_on_every_page(app):
    """Every page takes the model that was just loaded, a checkpoint."""
    assert "Same numbers as transformers?" not in [each.label for each in app.button]
    for page in PAGES:
        go_to(app, page)
        assert not app.exception, page
        assert not app.error, page


# The other pages are opened with every model in test_every_model.py.
NOT_OF_A_MODEL = [page for page in PAGES if page not in OF_A_MODEL]


@pytest.mark.parametrize(
    ("name", "page"),
    first_of([*product(["headless"], PAGES), *product(["T5", "GPT-2"], NOT_OF_A_MODEL)]),
)
def test_every_page_takes_every_model(page, name, transformers_folders):
    app = open_with(transformers_folders[name], page, sentence="I love my cat.")
    assert not app.error
    assert address(app)["model"].startswith(LIBRARY)
