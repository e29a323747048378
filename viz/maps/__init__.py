"""Maps of weights, scores and effects."""
