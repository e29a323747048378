"""The Transformer, from its configuration to its logits; it needs nothing but torch."""
