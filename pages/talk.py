"""The page Talk."""

from headlight.pages.parts.pages import open_page

open_page("talk")
