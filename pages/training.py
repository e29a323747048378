"""The page Training."""

from headlight.pages.parts.pages import open_page

open_page("training")
