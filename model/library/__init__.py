"""Load and record models of the transformers library, and BERT in this project's own layers."""
