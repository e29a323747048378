"""Texts, their probabilities and the steps of writing them."""
