"""What the model is, how it was trained and what it cannot do: its model card."""

from __future__ import annotations

import streamlit as st

from model.translator import PRETRAINED
from pages.shared.frame import open_page
from pages.shared.loading import MODEL

open_page("The model")
card = (PRETRAINED / MODEL / "README.md").read_text(encoding="utf-8")
st.markdown(card.partition("\n")[2])
