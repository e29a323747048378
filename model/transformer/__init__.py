"""The Transformer, from its configuration to its logits, with torch and nothing else."""
