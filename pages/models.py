"""The page Models."""

from pages.parts.pages import open_page

open_page("models")
