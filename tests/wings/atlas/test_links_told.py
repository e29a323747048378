"""What the page Attention says of a head that the atlas has counted."""

from headlight.pages.shared.state.models import EXAMPLES
from headlight.wings.atlas.calls import FOLDER
from headlight.wings.atlas.files import open_atlas
from headlight.wings.atlas.pronouns import PRONOUN
from tests.pages.apps import open_page
from tests.pages.test_attention import said


def test_a_head_is_said_to_link_pronouns_as_often_as_the_atlas_has():
    atlas = open_atlas(FOLDER)
    hits = 100 * atlas.kinds["encoder"].figures[PRONOUN.name].mean
    chance = atlas.about["pronouns"]["chance"]
    scene = {"sentence": EXAMPLES[0], "kind": "encoder", "picture": "lines", "lit": "q7"}
    for layer, head in ((1, 1), (4, 6)):
        app = open_page(**scene, layer=str(layer + 1), head=str(head + 1))
        known = f"in {hits[layer, head]:.0f} of 100 sentences; chance: {chance:.0f}."
        assert known in said(app)
    for other in ({"lit": "q2"}, {"layer": "mean"}, {"edits": "gate.encoder.1.1.0"}):
        assert "of 100 sentences" not in said(open_page(**scene | other))


def test_the_clearest_word_for_a_pronoun_is_that_of_the_heads_which_link_best():
    sentence = "The cup fell from the table, but it did not break."
    app = open_page(sentence=sentence, kind="encoder", layer="2", head="2", picture="lines")
    clearest = "Clearest content word for “it”, neighbours left out"
    assert f"{clearest}, of the 5 heads best at pronouns: " in said(app)
