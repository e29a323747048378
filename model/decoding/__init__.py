"""Decoding: a model writes a text token by token, by a strategy such as beam search."""
