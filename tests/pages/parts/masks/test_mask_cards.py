import numpy as np

from headlight.pages.parts.masks.mask_cards import MaskCard, mask_cards
from tests.viz.unpacking import unpack

CARDS = [
    MaskCard("Window", "Near keys.", "A 2020", ["50% of cells"]),
    MaskCard("<b>", "x", "", [], True),
]
VISIBLE = np.array([np.tril(np.ones((3, 3))), np.eye(3)], bool)


def test_each_mask_has_its_cells_and_what_is_said_of_it():
    picture = mask_cards(VISIBLE, CARDS, clickable=True)
    header, cells = unpack(picture)
    assert (np.frombuffer(cells, np.uint8).reshape(2, 3, 3) == VISIBLE).all()
    assert [card["title"] for card in header["cards"]] == ["Window", "<b>"]
    assert [card["in_force"] for card in header["cards"]] == [False, True]
    assert (header["size"], header["clickable"]) == (3, True)
    assert picture.numbers["visible"].array().shape == (2, 3, 3)
