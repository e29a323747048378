"""Vectors of positions."""
