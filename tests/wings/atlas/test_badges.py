"""What a head usually does, as the atlas has counted it, in its badges on the page Heads."""

import pytest

from headlight.wings.atlas.calls import FOLDER
from headlight.wings.atlas.files import open_atlas
from tests.pages.parts.heads.test_page import opened, places, said
from tests.pages.pictures import save_menus

__all__ = ["places"]


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_what_is_usual_is_what_the_atlas_says(places, kind):
    layer, head = places[kind]
    app, figures = opened(kind, layer, head), open_atlas(FOLDER).kinds[kind].figures
    for name, _, mean, deviation in (found := said(app)):
        assert mean == f"{figures[name].of_sentences[layer, head]:.2f}"
        assert deviation == f"{figures[name].deviation[layer, head]:.2f}"
    assert found
    (words,) = (caption.value for caption in app.caption if caption.value.startswith("Usually"))
    assert "of Tatoeba's validation" in words


def test_a_saved_map_says_it_too(places):
    layer, head = places["encoder"]
    app = opened("encoder", layer, head)
    ((name, here, mean, deviation), *_) = said(app)
    (caption,) = (menu["caption"] for menu, _ in save_menus(app) if menu["key"] == "map")
    assert f"{name} {here} here; usually {mean} ± {deviation}" in caption
    assert "sentences of Tatoeba's validation" in caption
