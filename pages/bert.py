"""The address of the page BERT and others, which is gone; links to it lead where its parts are."""

from pages.parts.pages import forward

forward("bert")
