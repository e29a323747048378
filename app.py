"""The server of Headlight, started by `streamlit run app.py`, and the first page of the app.

The first page is Attention: what every head looks at in the visitor's sentence.
"""

if __name__ == "__main__":  # a visitor opens the first page
    from headlight.pages.parts.pages import open_page

    open_page("attention")
else:  # `streamlit run app.py` starts the server
    import sys

    from streamlit import App

    try:
        from headlight.pages.server.start import BEFORE_PAGES, ROUTES, announced
    except ValueError as error:  # an environment variable has a wrong value
        sys.exit(str(error))

    app = App(__file__, routes=ROUTES, middleware=BEFORE_PAGES, lifespan=announced)
