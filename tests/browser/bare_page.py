"""A page of Streamlit alone, which draws one of each element whose DOM the app relies on."""

import time

import altair as alt
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

PART = "export default function draw({ parentElement }) {\n  parentElement.append('part');\n}"


@st.dialog("Dialog")
def ask():
    st.write("Asked.")


st.set_page_config(layout="wide")
st.sidebar.subheader("Menu")
st.sidebar.caption("Group")
st.sidebar.page_link("http://127.0.0.1", label="A page")
with st.container(horizontal=True):
    st.selectbox("Select", ["a", "b"])
    st.number_input("Number", 0, 9)
    st.segmented_control("Row", ["a", "b"], default="a")
for column in st.columns(2):
    column.text("Text")
st.text_input("Words", max_chars=9)
st.text_area("Lines", max_chars=9)
st.multiselect("Several", ["a", "b"], ["a"])
st.slider("Slider", 0, 9)
st.checkbox("On", value=True)
st.checkbox("Off")
st.radio("One of", ["a", "b"])
st.date_input("Day")
st.button("Primary", type="primary")
st.download_button("Download", "text")
st.menu_button("Menu", ["a"])
st.link_button("Link", "http://127.0.0.1")
st.file_uploader("File")
st.metric("Metric", 1)
st.code("code")
st.latex("x")
st.caption("Caption")
st.markdown("| a |\n| - |\n| b |")
st.dataframe({"a": [1]})
st.plotly_chart(go.Figure(go.Scatter(x=[1], y=[1])))
st.altair_chart(alt.Chart(pd.DataFrame({"x": [1]})).mark_point().encode(x="x"))
st.components.v2.component("part", js=PART)()
with st.popover("Popover"):
    st.write("Popped up.")
if st.button("Toast"):
    st.toast("Said.")
if st.button("Ask"):
    ask()
st.text("All is drawn.")
if st.button("Work"):
    place = st.empty()
    while True:  # until the page is closed
        place.text("Working")
        time.sleep(0.05)
