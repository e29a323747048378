"""Curves and points."""
