"""The translator in a page that needs no server.

It is the project's only other forward pass, in JavaScript. Nothing of the app uses it. The
tests hold it against the model in Python, number by number.
"""
