"""The page Inside a head."""

from headlight.pages.parts.pages import open_page

open_page("inside")
