"""Watch attention being learned: train a small Transformer, and see its heads form."""

from __future__ import annotations

import streamlit as st

from pages.parts.training.lessons import lessons
from pages.parts.training.options import choose_options
from pages.parts.training.run import watch
from pages.parts.training.use import upload
from pages.parts.training.words import INTRO
from pages.shared.frame.frame import open_page
from pages.shared.link import address

open_page("Training")
st.caption(INTRO)
options = choose_options()
watch(ready=options is not None)
upload()
if options:
    st.subheader("Learning rate and loss")
    lessons(options)
address.publish()
