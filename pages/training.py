"""The page Training."""

from pages.parts.pages import open_page

open_page("training")
