from tests.pages.server.conftest import client, options

__all__ = ["client", "options"]
