"""Pictures of attention: arrays and tokens in, figures out.

The base is arrays, tokens, numbers, colors and canvas; the families of pictures build on it, each
picture with its Python, its JavaScript and its CSS side by side.
"""

from viz.canvas import CanvasPicture
from viz.curves.distributions import Spread, distributions
from viz.curves.points import effect_points, head_plane, head_points, layer_colors
from viz.curves.position_lines import position_lines, wavelengths
from viz.curves.training_curves import training_curves
from viz.maps.architecture_map import architecture_map
from viz.maps.attention_film import attention_film
from viz.maps.attention_lines import attention_lines
from viz.maps.compared_maps import Change, compared_maps, largest_changes
from viz.maps.head_grid import head_grid, selected_map
from viz.maps.heatmap import Behind, attention_heatmap, knockout_map, word_heatmap
from viz.switches.head_effects import head_effects
from viz.switches.head_scores import head_scores
from viz.switches.mask_matrix import mask_matrix
from viz.switches.switchboard import switchboard
from viz.vectors.position_clocks import position_clocks
from viz.vectors.position_heatmap import position_heatmap, vector_strips
from viz.vectors.vector_rows import Row, vector_rows
from viz.writing.beam_tree import Leaf, beam_tree
from viz.writing.decoding_player import Bar, decoding_player
from viz.writing.probability_bars import measure_bars, probability_bars
from viz.writing.shifted_right import shifted_right
from viz.writing.sum_bars import sum_bars
from viz.writing.token_strip import Chip, token_strip
