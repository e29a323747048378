"""What every head of a model does over a corpus: python -m model.atlas --text FILE --output FOLDER.

Read corpus.py (lines), counting.py (a window of them), statistics.py (what is summed up),
examples.py (what is kept), effects.py (heads removed) and figures.py (what comes of the sums).
"""
