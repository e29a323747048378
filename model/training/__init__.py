"""Training a Transformer, on the command line and on the Training page."""
