"""What a model's card says: its licence, read as data and nothing else."""

import pytest

from headlight.model.library import hub as module
from headlight.model.library.hub import (
    CARD_FILE,
    LONGEST_CARD,
    Card,
    LoadingError,
    licence_in,
    read_card,
)

MIT = "---\nlanguage: en\nlicense: mit\n---\n# A model\n"


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        (MIT, "mit"),
        ('---\nlicense: "apache-2.0"\n---\n', "apache-2.0"),
        ("---\nlicense: other\nlicense_name: llama3.2\n---\n", "llama3.2"),
        ("---\nlicense: other\n---\n", "other"),
        ("# A model\nlicense: mit\n", ""),
        ("text\n---\nlicense: mit\n---\n", ""),
        ("---\nlicense: mit\n", ""),
        ("---\nlanguage: en\n---\nlicense: mit\n", ""),
        ("---\nlicense: <script>alert(1)</script>\n---\n", ""),
        ("---\nlicense: [free](https://example.org)\n---\n", ""),
        (f"---\nlicense: {'a' * 1_000}\n---\n", ""),
        ("", ""),
    ],
)
def test_of_a_card_the_licence_of_its_front_matter_is_read(text, licence):
    assert licence_in(text) == licence


def test_a_folder_has_the_licence_of_its_card_and_no_page(tmp_path):
    assert read_card(str(tmp_path)) == Card()
    (tmp_path / CARD_FILE).write_text(MIT, encoding="utf-8")
    assert read_card(str(tmp_path)) == Card("mit")


def test_bytes_that_are_no_text_and_cards_without_end_do_no_harm(tmp_path):
    (tmp_path / CARD_FILE).write_bytes(
        b"---\r\nlicense: mit\r\n\xff\xfe\n---\n" + b"\xff" * LONGEST_CARD * 2
    )
    assert read_card(str(tmp_path)).licence == "mit"
    (tmp_path / CARD_FILE).write_bytes(b"---\n" + b"a" * LONGEST_CARD + b"\nlicense: mit\n---\n")
    assert read_card(str(tmp_path)).licence == ""


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("openai-community/gpt2", "https://huggingface.co/openai-community/gpt2"),
        ("gpt2", "https://huggingface.co/gpt2"),
        ("/no/such/folder", ""),
        ("../../evil", ""),
        ("a/b?c=d", ""),
        ("javascript:alert(1)", ""),
        ("a/b) [click](https://example.org", ""),
    ],
)
def test_a_name_on_the_hub_has_a_page_there_even_if_the_hub_cannot_be_reached(
    name, page, monkeypatch
):
    def fetch(*_):
        raise LoadingError("The hub cannot be reached.")

    monkeypatch.setattr(module, "fetch", fetch)
    assert read_card(name) == Card(page=page)


def test_the_card_of_a_name_is_fetched(tmp_path, monkeypatch):
    (tmp_path / CARD_FILE).write_text(MIT, encoding="utf-8")
    asked = []
    monkeypatch.setattr(module, "fetch", lambda *given: asked.append(given) or tmp_path)
    assert read_card("a/b") == Card("mit", "https://huggingface.co/a/b")
    assert asked == [("a/b", (CARD_FILE,))]
