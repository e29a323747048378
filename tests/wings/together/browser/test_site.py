"""The gallery that `make site` writes: every page of it, with no server and no network."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import expect

from docs.site import EXHIBITS, TALKS, saved_talk, write_site

pytestmark = pytest.mark.matrix
# The pictures on a page, each with whether it has drawn something of its own.
DRAWN = """() => [...document.querySelectorAll("section")].map((section) => {
  const root = section.children[1].shadowRoot;
  return Boolean(root?.querySelector("canvas, button, svg, .token"));
})"""
LEFT = "net::ERR_ABORTED"  # the weights, if the page is left before they are there
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def site(browser, server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "below" / "a path"
    talk = saved_talk(browser, server, "five_minutes")
    write_site(folder, lambda name: talk)
    return folder


@pytest.fixture(params=["file", "server"])
def address(site, request):
    """The address of the folder, from the disk or from a plain web server."""
    if request.param == "file":
        yield site.as_uri()
        return
    handler = functools.partial(SimpleHTTPRequestHandler, directory=site.parents[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{web.server_port}/below/a%20path"
        web.shutdown()


@pytest.fixture
def visitor(browser, address):
    """A page that can open nothing but files and this machine; its errors are listed."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page, errors = context.new_page(), []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("requestfailed", lambda request: request.failure != LEFT and errors.append(request.url))
    page.route(
        "**", lambda route: route.continue_() if is_own(route.request.url) else route.abort()
    )
    yield page
    context.close()
    assert errors == []


def is_own(url):
    return url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:"))


def test_every_picture_draws_at_every_width(visitor, address):
    visitor.goto(f"{address}/gallery.html")
    visitor.wait_for_function(f"() => ({DRAWN})().every(Boolean)")
    assert len(visitor.evaluate(DRAWN)) == len(EXHIBITS) == 11
    for width in (1280, 390):
        visitor.set_viewport_size({"width": width, "height": 720})
        assert visitor.evaluate(WIDER) <= 0


def test_a_picture_answers_the_pointer(visitor, address):
    visitor.goto(f"{address}/gallery.html")
    grid = visitor.locator("section").first
    grid.locator("button").nth(2).focus()
    visitor.keyboard.press("ArrowRight")
    assert visitor.evaluate("() => document.activeElement.tagName.startsWith('HEADLIGHT-')")


def test_every_document_and_talk_is_one_click_away(visitor, address, site):
    to_see, seen = ["index.html"], set()
    while to_see:
        name = to_see.pop()
        seen.add(name)
        visitor.goto(f"{address}/{name}")
        assert visitor.title()
        links = visitor.eval_on_selector_all("a[href]", "links => links.map((link) => link.href)")
        for link in links:
            path = link.removeprefix(f"{address}/").partition("#")[0]
            if is_own(link) and path.endswith(".html") and path not in seen:
                to_see.append(path)
    written = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert {path for path in seen if path in written} == written
    assert {"README.html", "docs/notebook.html", *(f"{name}.html" for name in TALKS)} <= seen


def test_a_talk_opens_on_its_first_slide(visitor, address):
    visitor.goto(f"{address}/five_minutes.html")
    visitor.get_by_role("heading", name="A Transformer in five minutes").wait_for()


def test_the_front_page_translates(visitor, address):
    visitor.goto(f"{address}/index.html")
    translation = visitor.locator(".before .token-strip")
    expect(translation).to_contain_text("Le chien mangea la viande parce qu'il avait faim.")
    visitor.get_by_label("English sentence").fill("I love you.")
    expect(translation).to_contain_text("Je vous aime.")
