"""What every head of a model does over a corpus, as `python -m headlight.wings.atlas` counts it.

Read corpus.py (lines), counting.py (a window of them), statistics.py (the sums), examples.py (the
sentences that are kept), effects.py (removed heads) and figures.py (figures from the sums).
"""
