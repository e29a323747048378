"""The page Masks."""

from headlight.pages.parts.pages import open_page

open_page("masks")
