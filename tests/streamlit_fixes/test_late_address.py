"""Which addresses of the browser are its own, and which are late."""

import pytest

from tests.pages.apps import run_script

ASKING = """
import time
import streamlit as st
from headlight.pages.streamlit_fixes import late_address
st.query_params.from_dict({"head": "5"})
if "after" in st.session_state:
    late_address.know({"head": "6"}, time.monotonic() - st.session_state.after)
st.session_state.gone_to = late_address.gone_to()
late_address.write({"head": "7"})
st.session_state.again = late_address.gone_to()
"""


def test_a_session_begins_with_the_address_of_the_browser():
    app = run_script(ASKING)
    assert app.session_state["gone_to"] == {"head": "5"}
    assert app.session_state["again"] is None


@pytest.mark.parametrize(("after", "gone_to"), [(0.0, None), (10.0, {"head": "5"})])
def test_another_address_is_late_at_first_and_the_visitors_own_later(after, gone_to):
    assert run_script(ASKING, after=after).session_state["gone_to"] == gone_to
