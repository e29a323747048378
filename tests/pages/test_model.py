from pathlib import Path

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[2]


def test_the_model_page_shows_the_card():
    app = AppTest.from_file(ROOT / "app.py", default_timeout=120)
    app.switch_page("pages/model.py").run()
    assert not app.exception
    assert app.title[0].value == "The model"
    assert "CC BY 2.0" in app.markdown[0].value
