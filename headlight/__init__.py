"""Headlight shows what every attention head of a Transformer does, and lets you change it.

    from headlight import Site, head_grid, load_model
    translator = load_model("en-fr")
    translator.translate("I love my cat.").text

These names are for notebooks and scripts, and change only with the major or minor version.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

# In a clone, this folder has symbolic links to the packages next to it, such as model/, so that
# tools can follow imports. On Windows without developer mode, Git writes small files in place of
# the links; the packages are then imported from the folder above.
FOLDER = Path(__file__).parent
if not (FOLDER / "model").is_dir():
    __path__.append(str(FOLDER.parent))

if TYPE_CHECKING:
    from headlight.model.decoding.strategies import Strategy
    from headlight.model.edits.attention import AttentionEdit
    from headlight.model.edits.positions import PositionEdit
    from headlight.model.library.hub import LoadingError
    from headlight.model.library.loading import load_model
    from headlight.model.transformer.attention import Edit
    from headlight.model.transformer.trace import Site
    from headlight.notebook import show
    from headlight.viz import (
        attention_film,
        attention_heatmap,
        attention_lines,
        attention_text,
        compared_maps,
        head_grid,
        head_scores,
        image_weights,
        position_heatmap,
        probability_bars,
        to_csv,
        to_npz,
    )
    from headlight.wings.any_module.film import AttentionFilm
    from headlight.wings.any_module.opening import open_model
    from headlight.wings.any_module.watch import watch

__all__ = [
    "AttentionEdit",
    "AttentionFilm",
    "Edit",
    "LoadingError",
    "PositionEdit",
    "Site",
    "Strategy",
    "attention_film",
    "attention_heatmap",
    "attention_lines",
    "attention_text",
    "compared_maps",
    "head_grid",
    "head_scores",
    "image_weights",
    "load_model",
    "open_model",
    "position_heatmap",
    "probability_bars",
    "show",
    "to_csv",
    "to_npz",
    "watch",
]


# The module that defines each public name; every name that is missing here is defined in viz.
MODULES = {
    "AttentionEdit": "model.edits.attention",
    "AttentionFilm": "wings.any_module.film",
    "Edit": "model.transformer.attention",
    "LoadingError": "model.library.hub",
    "PositionEdit": "model.edits.positions",
    "Site": "model.transformer.trace",
    "Strategy": "model.decoding.strategies",
    "load_model": "model.library.loading",
    "open_model": "wings.any_module.opening",
    "show": "notebook",
    "watch": "wings.any_module.watch",
}


def __getattr__(name: str) -> object:
    """Import a public name at its first use: the app's server has to start without PyTorch."""
    if name in __all__:
        return getattr(import_module(f"headlight.{MODULES.get(name, 'viz')}"), name)
    raise AttributeError(f"headlight has no {name!r}; it has {', '.join(__all__)}.")


def __dir__() -> list[str]:
    return __all__
