"""The page Decoding."""

from headlight.pages.parts.pages import open_page

open_page("decoding")
