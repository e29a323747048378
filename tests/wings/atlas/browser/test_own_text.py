"""A text of the visitor's own: uploaded, counted behind a bar, shown, and removed again."""

import gzip
import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.rest import rerun

PAIRS = (("Go on.", "Va."), ("I love my cat.", "J'aime mon chat."), ("It rains.", "Il pleut."))
LINES = 240
TEXT = "".join(f"{source}\t{target}\n" for source, target in PAIRS) * (LINES // len(PAIRS))
SHIPPED = "162,072 sentences of Tatoeba's validation and training pairs"
OWN = f"your {LINES} lines"


@pytest.fixture
def atlas(page, server):
    page.goto(f"{server}/atlas")
    page.get_by_text("Count a text of your own").click()
    return page


def upload(page, data, name="<img src=x onerror=alert(1)>.tsv.gz"):
    """Upload a file, and have it counted."""
    file = {"name": name, "mimeType": "application/gzip", "buffer": data}
    with rerun(page):  # its name stands there before the server has the file
        page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(file)
    expect(page.get_by_test_id("stFileChipName")).to_contain_text("<img")
    page.get_by_role("button", name="Count", exact=True).click()


def usually(page):
    """What the badge of a head is set against on the page Heads."""
    page.get_by_role("link", name="Heads", exact=True).click()
    return page.get_by_text(re.compile("^Usually: ")).first


def test_a_text_is_counted_shown_and_removed(atlas):
    upload(atlas, gzip.compress(TEXT.encode()))
    main = atlas.get_by_test_id("stMain")
    remove = main.get_by_role("button", name="Remove", exact=True)
    cancel = main.get_by_role("button", name="Cancel")
    expect(cancel.or_(remove)).to_be_visible()  # a count may end before anybody looks
    expect(remove).to_be_visible(timeout=90_000)
    expect(main.get_by_text(f"The figures are of {OWN}.")).to_be_visible()
    expect(main.get_by_text(SHIPPED)).to_have_count(0)
    with atlas.expect_download() as saved:
        main.get_by_role("button", name="heads.tsv").click()
    assert saved.value.suggested_filename == "heads.tsv"
    assert len(saved.value.path().read_text(encoding="utf-8").splitlines()) == 1 + 40 + 24 + 24
    atlas.wait_for_url(re.compile("atlas_text="))
    (key,) = parse_qs(urlsplit(atlas.url).query)["atlas_text"]
    assert re.fullmatch(r"[\w-]{8}", key)
    remove.click()
    expect(main.get_by_text(SHIPPED).first).to_be_visible()
    expect(remove).to_have_count(0)


@pytest.mark.matrix
def test_the_badges_are_set_against_the_text_that_was_counted(page, server):
    place = "kind=encoder&layer=4&head=2&sentence=The dog ate the meat because it was hungry."
    page.goto(f"{server}/heads?{place}")
    expect(page.get_by_text(re.compile("^Usually: ")).first).to_contain_text(SHIPPED)
    page.get_by_role("link", name="Atlas", exact=True).click()
    page.get_by_text("Count a text of your own").click()
    upload(page, gzip.compress(TEXT.encode()))
    expect(page.get_by_text(f"The figures are of {OWN}.")).to_be_visible(timeout=90_000)
    expect(usually(page)).to_contain_text(OWN)
