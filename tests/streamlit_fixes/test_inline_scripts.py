import re

from headlight.pages.streamlit_fixes.inline_scripts import INDEX, INLINE, allowed_inline


def test_every_inline_script_of_streamlits_page_is_allowed():
    """If it fails, the policy blocks a script and the page stays blank: mend `INLINE`."""
    page = INDEX.read_text()
    scripts = re.findall(r"<script\b[^>]*>", page)
    inline = [script for script in scripts if "src=" not in script]
    assert len(INLINE.findall(page)) == len(inline) == len(allowed_inline().split())


def test_streamlit_still_has_inline_scripts_without_a_nonce():
    page = INDEX.read_text()
    assert INLINE.search(page), "Streamlit has no inline script: delete inline_scripts.py."
    assert "nonce=" not in page, "Streamlit has a nonce: allow that in place of hashes."
