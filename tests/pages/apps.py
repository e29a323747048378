"""Opening pages of the app in tests, and finding what is on them."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state.models import LIBRARY

ROOT = Path(__file__).parents[2]
PICTURES = ("bidi_component", "plotly_chart", "vega_lite_chart")


class Keeper:
    """One who has models in their list, so that they stay in memory between two tests."""


KEEPER = Keeper()


def new_app(**parameters):
    """A session of the app that begins with an address."""
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.query_params.update(parameters)
    return app


def run_script(script, **state):
    """A session of a script that has begun with these values in its state."""
    app = AppTest.from_string(script)
    for name, value in state.items():
        app.session_state[name] = value
    app.run()
    assert not app.exception
    return app


def go_to(app, page):
    """Draw another page of the app, by its key."""
    return app.switch_page(PAGES[page].file).run()


def open_page(page="attention", **parameters):
    """A session that begins with a page, by its key, and an address."""
    return go_to(new_app(**parameters), page)


def go_back(app, **parameters):
    """Draw the page with another address, as the browser's Back and Forward do."""
    app.query_params.clear()
    app.query_params.update(parameters)
    app.session_state["going_to"] = parameters  # as the mark of such a run has it
    return app.run()


def keep(folder):
    """Load a model of the transformers library, which stays in memory; its name."""
    name = str(folder)
    while not (found := shelf().get(name)) or KEEPER not in found.held_by:
        if not found:
            shelf().ask(name).join()
        shelf().hold(name, KEEPER)
    return name


def open_with(folder, page="attention", **parameters):
    """A session that begins with a page and a model of the transformers library in memory."""
    app = open_page(page, model=LIBRARY + keep(folder), **parameters)
    assert not app.exception
    return app


def loaded(app):
    """The session after the model that was asked for is there, or could not be loaded."""
    if job := app.session_state["loading"]:
        job.join()
        app.run()
    assert not app.exception
    return app


def address(app):
    """The parameters of the page's address."""
    return {
        name: text if isinstance(text, str) else text[-1] for name, text in app.query_params.items()
    }


def button(app, label):
    """The only button with this label."""
    (match,) = (item for item in app.button if item.label == label)
    return match


def said(app):
    """What the page says in its notes and plain texts."""
    return " ".join(each.value for item in (app.info, app.text) for each in item)


def metrics(app):
    """The numbers that the page shows large, by their labels."""
    return {metric.label: metric.value for metric in app.metric}


def with_heads_measured(app):
    """The page Heads with the effect of every head, which a session measures once."""
    for item in app.button:
        if item.label == "Measure every head":
            item.click().run()
    return app


def edited(widgets, name):
    """The widget that shows an edit: its key has a number once it was changed elsewhere."""
    (match,) = (widget for widget in widgets if widget.key.partition(" ")[0] == name)
    return match


def drawn(app):
    """The keys of the pictures and charts on the page, in order."""
    return pictures_below(app.main)


def on_stage(app):
    """The keys of the pictures and charts that a slide shows, in order; none if only words."""
    shown = [block for block in blocks_below(app.main) if key_of(block) in ("stage", "corner")]
    return [key for block in shown for key in pictures_below(block)]


def texts_on_stage(app):
    """What a slide says besides its pictures."""
    (stage,) = stages_of(app)
    return [element.value for element in below(stage) if element.type in ("text", "info", "alert")]


def stages_of(app):
    return [block for block in blocks_below(app.main) if key_of(block) == "stage"]


def pictures_below(block):
    return [key_of(element) for element in below(block) if element.type in PICTURES]


def blocks_below(block):
    return [element for element in below(block) if hasattr(element, "children")]


def below(block):
    """Everything in a block, in order."""
    for child in block.children.values():
        yield child
        if hasattr(child, "children"):
            yield from below(child)


def key_of(element):
    """The key that something was drawn with; empty without one."""
    identity = getattr(getattr(element, "proto", None), "id", "")
    return identity.split("-", 2)[2] if identity.startswith("$$ID") else ""
