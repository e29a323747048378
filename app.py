"""Headlight opens on the Attention page: what every head looks at, on the visitor's sentence."""

from pages.parts.pages import open_page

open_page("attention")
