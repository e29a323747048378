"""A section of a page stays the same one wherever it stands."""

import pytest
from streamlit.runtime import fragment

from headlight.pages.streamlit_fixes.fixed_sections import name_sections_without_place
from tests.pages import apps


@pytest.fixture
def fixed(monkeypatch):
    name = fragment._make_fragment_identity
    monkeypatch.setattr(fragment, "_make_fragment_identity", name)  # put back at the end
    name_sections_without_place()


def name_at(place, function=apps.run_script):
    parts = {"delta_path": place, "additional_hash_info": ""}
    return fragment._make_fragment_identity(function, **parts).fragment_id


def test_the_name_says_nothing_of_the_place_and_differs_between_functions(fixed):
    assert name_at("0.1") == name_at("0.2")
    assert name_at("0.1") != name_at("0.1", apps.go_to)


def test_streamlit_still_names_a_section_by_its_place(monkeypatch):
    name = fragment._make_fragment_identity  # or what stands for it in a process that has served
    own = getattr(name, "__wrapped__", name)
    monkeypatch.setattr(fragment, "_make_fragment_identity", own)
    assert name_at("0.1") != name_at("0.2"), "Delete fixed_sections.py."
