import pytest

from headlight.viz import architecture_map
from tests.viz.unpacking import unpack

LABELS = {"encoder": "Encoder", "decoder": "Decoder", "cross": "Cross-attention"}


@pytest.mark.parametrize(
    ("layers", "stacks"),
    [
        ({"encoder": 3, "decoder": 2, "cross": 2}, [["encoder"], ["decoder", "cross"]]),
        ({"encoder": 12}, [["encoder"]]),
        ({"decoder": 32}, [["decoder"]]),
    ],
)
def test_a_model_has_the_stacks_it_has(layers, stacks):
    kind = list(layers)[-1]
    header, array = unpack(architecture_map(layers, labels=LABELS, kind=kind, layer=1))
    assert (header["stacks"], header["layers"]) == (stacks, layers)
    assert (header["kind"], header["layer"], header["linked"]) == (kind, 1, False)
    assert header["labels"] == {kind: LABELS[kind] for kind in layers}
    assert not array
