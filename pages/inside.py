"""The page Inside a head."""

from pages.parts.pages import open_page

open_page("inside")
