"""The page Positions."""

from headlight.pages.parts.pages import open_page

open_page("positions")
