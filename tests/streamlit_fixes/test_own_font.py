import base64
import re

from headlight.pages.streamlit_fixes.own_font import MEDIA, font_face


def test_the_font_of_the_app_is_where_it_was():
    """If it fails, files that leave the app have no font: find it in Streamlit's new package."""
    (data,) = re.findall(r"base64,([^)]+)\)", font_face())
    font = base64.b64decode(data)
    assert font[:4] == b"wOF2"
    assert font in {file.read_bytes() for file in MEDIA.glob("SourceSans*Upright*")}
    styles = MEDIA.parent.rglob("*.js")
    assert any('"Source Sans"' in style.read_text("utf-8") for style in styles)
