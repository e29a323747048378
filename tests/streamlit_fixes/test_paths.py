from streamlit.web.server.starlette import starlette_routes

from headlight.pages.streamlit_fixes.paths import CORE, HEALTH, METRICS


def test_streamlit_answers_where_it_did():
    """If it fails, take the paths that Streamlit has now into paths.py."""
    assert CORE.strip("/") == starlette_routes.BASE_ROUTE_CORE
    assert HEALTH.strip("/") == starlette_routes.ROUTE_HEALTH
    assert METRICS.strip("/") == starlette_routes.ROUTE_METRICS
