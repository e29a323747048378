from tests.browser.conftest import translator

__all__ = ["translator"]
