"""The page Masks."""

from pages.parts.pages import open_page

open_page("masks")
