"""What every head of a model does over a corpus, as `python -m headlight.wings.atlas` counts it.

Read counting.py (a window of lines), statistics.py (the sums), examples.py (the sentences that are
kept), figures.py (figures from the sums) and results.py (the files written, removed heads).
"""
