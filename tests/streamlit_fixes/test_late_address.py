"""Which addresses of the browser are its own, and which are late."""

import pytest

from tests.pages.apps import run_script

BEGINNING = """
import streamlit as st
from headlight.pages.streamlit_fixes import late_address
st.query_params.from_dict({"head": "5"})
st.session_state.gone_to = late_address.gone_to()
late_address.write({"head": "7"})
st.session_state.again = late_address.gone_to()
"""


def test_a_session_begins_with_the_address_of_the_browser():
    app = run_script(BEGINNING)
    assert app.session_state["gone_to"] == {"head": "5"}
    assert app.session_state["again"] is None


SENT = """
import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from headlight.pages.streamlit_fixes import late_address
get_script_run_ctx().is_history_navigation = st.session_state.back
late_address.know({"head": "6"})
st.query_params.from_dict(st.session_state.sent)
st.session_state.gone_to = late_address.gone_to()
get_script_run_ctx().is_history_navigation = False
st.session_state.after_a_click = late_address.gone_to()
"""


@pytest.mark.parametrize(
    ("back", "sent", "gone_to"),
    [
        (False, {"head": "5"}, None),  # the browser has not heard of head 6 yet, however long ago
        (True, {"head": "5"}, {"head": "5"}),
        (True, {}, None),  # a click on another page left this address
    ],
)
def test_the_browser_goes_to_another_address_by_back_and_forward_only(back, sent, gone_to):
    app = run_script(SENT, back=back, sent=sent)
    assert app.session_state["gone_to"] == gone_to
    assert app.session_state["after_a_click"] == gone_to  # which ended the run before it was noted


QUICKLY_BACK = """
import streamlit as st
from headlight.pages.streamlit_fixes import late_address
late_address.write({"head": "6"})
st.query_params.from_dict({"head": "5"})  # the browser has not heard of it yet
late_address.write({"head": "5"})
"""


def test_the_address_that_the_browser_sent_is_written_if_another_is_on_its_way():
    assert run_script(QUICKLY_BACK).session_state["address"] == {"head": "5"}
