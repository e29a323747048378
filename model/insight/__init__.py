"""Analyses of a model's heads, from its runs."""
