"""The page Models."""

from headlight.pages.parts.pages import open_page

open_page("models")
