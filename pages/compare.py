"""The page Compare."""

from pages.parts.pages import open_page

open_page("compare")
