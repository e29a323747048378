"""Maps of all heads, and masks, whose cells can be clicked."""
