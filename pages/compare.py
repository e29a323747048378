"""The page Compare."""

from headlight.pages.parts.pages import open_page

open_page("compare")
