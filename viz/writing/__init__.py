"""Pictures of texts, of their tokens' probabilities, and of the steps in which they are written."""
