"""Workarounds for Streamlit, one per file.

Each file says what it works around, which upstream issue makes it necessary, and which parts of
Streamlit it relies on. If these parts change, tests/streamlit_fixes/ fails and says what to do. The
files import nothing else of this project.
"""
