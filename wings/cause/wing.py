"""The page Cause."""

from headlight.wings.cause.page.page import PAGE

__all__ = ["PAGE"]
