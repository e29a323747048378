"""The translator in a web page that needs no server.

Its JavaScript is a second implementation of the model. The pages of the app do not use it. Tests
compare its numbers with those of the model in Python.
"""
