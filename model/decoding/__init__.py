"""Writing by a model, step by step, with a strategy."""
