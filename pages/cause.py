"""The page Cause."""

from headlight.pages.parts.pages import open_page

open_page("cause")
