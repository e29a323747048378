"""What every head of a model does over a corpus, as `python -m headlight.wings.atlas` counts it.

The order to read in: counting.py (counts a window of lines), statistics.py (the sums), examples.py
(the sentences kept), figures.py (figures made of the sums), results.py (files, and effects of
removing heads).
"""
