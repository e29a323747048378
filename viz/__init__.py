"""Pictures of attention: arrays and tokens in, figures out."""

from viz.attention_film import attention_film
from viz.attention_lines import attention_lines
from viz.beam_tree import Leaf, beam_tree
from viz.canvas import CanvasPicture
from viz.compared_maps import Change, compared_maps, largest_changes
from viz.copy_link import copy_link
from viz.decoding_player import Bar, decoding_player
from viz.head_effects import head_effects
from viz.head_grid import head_grid
from viz.heatmap import attention_heatmap, word_heatmap
from viz.kept_text import kept_text
from viz.keyboard import keyboard
from viz.mask_matrix import mask_matrix
from viz.position_clocks import position_clocks
from viz.position_heatmap import position_heatmap, vector_strips
from viz.position_lines import position_lines, wavelengths
from viz.probability_bars import probability_bars
from viz.selected_map import selected_map
from viz.shifted_right import shifted_right
from viz.slide import slide
from viz.switchboard import switchboard
from viz.token_strip import Chip, token_strip
from viz.training_curves import training_curves
from viz.vector_rows import Row, vector_rows

__all__ = [
    "Bar",
    "CanvasPicture",
    "Change",
    "Chip",
    "Leaf",
    "Row",
    "attention_film",
    "attention_heatmap",
    "attention_lines",
    "beam_tree",
    "compared_maps",
    "copy_link",
    "decoding_player",
    "head_effects",
    "head_grid",
    "kept_text",
    "keyboard",
    "largest_changes",
    "mask_matrix",
    "position_clocks",
    "position_heatmap",
    "position_lines",
    "probability_bars",
    "selected_map",
    "shifted_right",
    "slide",
    "switchboard",
    "token_strip",
    "training_curves",
    "vector_rows",
    "vector_strips",
    "wavelengths",
    "word_heatmap",
]
