"""Boards of heads and masks to be clicked."""
