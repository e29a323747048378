"""The page BERT and others."""

from pages.parts.pages import open_page

open_page("bert")
