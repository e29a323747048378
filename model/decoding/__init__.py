"""How a model writes: step by step, by a strategy."""
