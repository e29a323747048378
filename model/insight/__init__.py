"""Analyses of what a model's heads do, from the records of its runs."""
