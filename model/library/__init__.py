"""Models of other people, and BERT in our own layers."""
