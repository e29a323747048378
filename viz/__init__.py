"""Pictures of attention: each function takes arrays and tokens, and returns a picture.

The modules arrays, tokens, numbers, colors and canvas are the base. The folders hold the pictures,
each with its Python, its JavaScript and its CSS side by side.
"""

from headlight.viz.canvas import CanvasPicture
from headlight.viz.curves.points import effect_points, head_plane, head_points, layer_colors
from headlight.viz.curves.position_lines import position_lines, wavelengths
from headlight.viz.curves.training_curves import training_curves
from headlight.viz.maps.architecture_map import architecture_map
from headlight.viz.maps.attention_film import attention_film
from headlight.viz.maps.attention_lines import attention_lines
from headlight.viz.maps.attention_text import attention_text
from headlight.viz.maps.compared_maps import (
    Change,
    clearest_change,
    compared_maps,
    largest_changes,
)
from headlight.viz.maps.head_grid import head_grid, selected_map
from headlight.viz.maps.heatmap import (
    Behind,
    attention_heatmap,
    knockout_map,
    parts_map,
    reading_map,
    word_heatmap,
)
from headlight.viz.maps.image_weights import image_weights
from headlight.viz.numbers import to_csv, to_npz
from headlight.viz.switches.head_effects import head_effects
from headlight.viz.switches.head_scores import head_scores
from headlight.viz.switches.mask_matrix import mask_matrix
from headlight.viz.vectors.position_heatmap import position_heatmap
from headlight.viz.vectors.vector_rows import Row, vector_rows
from headlight.viz.writing.decoding_player import Bar, decoding_player
from headlight.viz.writing.probability_bars import measure_bars, probability_bars
from headlight.viz.writing.step_cells import CellRows, step_cells
from headlight.viz.writing.sum_bars import sum_bars
from headlight.viz.writing.token_strip import Chip, token_strip
