"""Fixes around Streamlit, one file each.

Each file says what it works around, the upstream issue it waits for, and what in Streamlit it
relies on. tests/streamlit_fixes/ fails when that changes, and says what to do then. The files
import nothing else of this project.
"""
