"""The page Cause."""

from pages.parts.pages import open_page

open_page("cause")
