"""Text that no one would call an input of a task."""

import pytest

from tests.matrix import first_of
from tests.pages.apps import go_to, new_app
from tests.pages.test_odd_text import TEXTS, expect_no_error


@pytest.mark.parametrize("name", first_of(TEXTS))
def test_the_training_page_takes_it(name):
    app = new_app()
    app.session_state["toy_input_reverse"] = TEXTS[name][:60]
    go_to(app, "training")
    app.number_input(key="toy_reverse_steps").set_value(10)
    app.button(key="toy_start").click().run()
    app.session_state["workshop"].training.job.stop()
    app.run()
    expect_no_error(app, name)
    assert app.info[0].value == "Type digits only, such as 31415926."
