"""The page Talk."""

from pages.parts.pages import open_page

open_page("talk")
