from headlight.pages.parts.decoding.beam_tree import Leaf, beam_tree
from tests.viz.unpacking import unpack

FIRST = [Leaf(None, "<a>", "<a>", -0.5, -0.5, kept=True, ended=False, best=True)]
SECOND = [
    Leaf(0, "b", "<a> b", -0.75, -0.25, kept=True, ended=True, best=True),
    Leaf(0, "c", "<a> c", -4.0, -2.0, kept=False, ended=False, best=False),
]


def test_every_text_travels_with_its_fate_and_its_parent():
    picture = beam_tree([FIRST, SECOND], selected=(1, 1))
    header, _ = unpack(picture)
    assert header["steps"][1][0] == {
        "parent": 0,
        "token": "b",
        "text": "<a> b",
        "log_probability": -0.75,
        "score": -0.25,
        "kept": True,
        "ended": True,
        "best": True,
    }
    assert [len(leaves) for leaves in header["steps"]] == [1, 2]
    assert header["selected"] == [1, 1]
