"""What is asked on the page Inside a head."""

from tests.pages.apps import drawn
from tests.pages.pictures import canvas_pictures
from tests.pages.test_inside import lens_of, open_page


def test_the_layer_from_which_a_word_stays_is_guessed_before_the_lens_is_drawn():
    app = open_page(inside_tab="stream", guess="on", guess_row="2")
    assert "lens" not in drawn(app)
    (question,) = [header for header, _ in canvas_pictures(app) if "asks" in header]
    assert "from which layer on" in question["asks"]
    (key,) = [key for key in drawn(app) if key.startswith("question-lens-")]
    app.session_state[key] = {"guess": 0}
    app.run()
    header, _ = lens_of(app)
    first = [row[1][0] for row in header["words"]]
    settled = header["settled"][1]
    assert set(first[settled:]) == {first[-1]}
    assert settled == 0 or first[settled - 1] != first[-1]
