"""The page Decoding."""

from pages.parts.pages import open_page

open_page("decoding")
