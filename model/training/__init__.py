"""Training data and training steps, for the command line and for the Training page."""
