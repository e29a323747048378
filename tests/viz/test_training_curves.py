import pandas as pd

from viz import training_curves


def test_every_curve_is_drawn_against_the_step():
    log = pd.DataFrame(
        {"step": [1, 2], "valid_loss": [3.0, 2.0], "bleu": [1, 9], "learning_rate": [0.1, 0.2]}
    )
    panels = [chart.to_dict() for chart in training_curves(log)]
    drawn = [panel["encoding"]["y"]["field"] for panel in panels]
    assert drawn == ["valid_loss", "bleu", "learning_rate"]
    assert {panel["encoding"]["x"]["field"] for panel in panels} == {"step"}
