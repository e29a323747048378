"""Watch attention being learned: train a small Transformer, and see its heads form."""

from __future__ import annotations

import streamlit as st

from pages.shared import address
from pages.shared.frame import open_page
from pages.shared.training_lessons import lessons
from pages.shared.training_options import choose_options
from pages.shared.training_run import watch
from pages.shared.training_use import upload
from pages.shared.training_words import INTRO

open_page("Training")
st.caption(INTRO)
options = choose_options()
watch(ready=options is not None)
upload()
if options:
    st.subheader("Learning rate and loss")
    lessons(options)
address.publish()
