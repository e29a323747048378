"""What the ready talk claims, slide by slide: computed from the model that is shipped.

Each function says, of the slide with its title, which words must be on it or in its notes. With
another model, a failing test names the words to change, or the head to choose anew.
"""

from math import exp

import pytest

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import read_edits
from headlight.model.edits.positions import PositionEdit
from headlight.model.insight.attribution import attribute
from headlight.model.questions import Question
from headlight.model.transformer.trace import Site
from headlight.pages.parts.pages import PAGES
from headlight.pages.shared.address import read_parameters
from headlight.pages.shared.runs.run import ModelRun
from headlight.wings.cause.calls import knocked_out, patched, two_texts
from headlight.wings.cause.knockout import agreements
from headlight.wings.cause.patching import AnswerPair
from headlight.wings.talks.talk import READY
from headlight.wings.talks.talk import shipped as slides_of
from tests.pages.sessions import end, session

TALK = [slide for name in READY.options for slide in slides_of(name)]
CLAIMS = {}  # by title


def claim(title):
    """Have a function say which words must be on the slide with a title."""
    return lambda function: CLAIMS.setdefault(title, function)


class Scene:
    """A slide of the talk, and what the shipped model computes for its scene."""

    def __init__(self, slide, shipped):
        self.shipped, self.shape = shipped, shipped.shape
        self.values, _ = read_parameters(slide.parameters, PAGES[slide.page].linked, self.shape)
        self.sentence = self.values["sentence"]
        self.trace = shipped.trace(self.sentence)
        self.site = Site(self.values["kind"], self.values["layer"])
        self.record = self.trace.attention[self.site]
        self.queries, self.keys = (
            [token.text for token in tokens]
            for tokens in (self.trace.query_tokens(self.site), self.trace.key_tokens(self.site))
        )

    @property
    def weights(self):
        """Of the head: (Q, K)."""
        return self.record.weights[0, self.values["head"]]

    @property
    def scores(self):
        """Of the head: (Q, K)."""
        return self.record.scores[0, self.values["head"]]

    @property
    def link(self):
        """The name of the head in links."""
        return f"{self.site.kind}.{self.site.layer + 1}.{self.values['head'] + 1}"

    @property
    def head(self):
        return f"layer {self.values['layer'] + 1}, head {self.values['head'] + 1}"


@claim("A sentence becomes tokens")
def a_written_word_is_in_two_pieces(scene):
    first, second = (
        token.text for token in scene.shipped.translate(scene.sentence).target_tokens[-4:-2]
    )
    return scene.sentence, f"wrote “{first}{second}” in two pieces, “{first}” and “{second}”"


@claim("Each token is told its place")
def without_positions_two_words_change_places(scene):
    whole = scene.shipped.translate(scene.sentence).text
    lost = scene.shipped.translate(scene.sentence, edits={"encoder": PositionEdit(off=True)}).text
    assert (whole, lost) == ("Le garçon voit la fille.", "La fille voit le garçon.")
    return scene.sentence, "the girl sees the boy"


@claim("A query meets a key")
def one_key_scores_more_than_another(scene):
    query, key = scene.values["query"], scene.values["key"]
    other = scene.keys.index("meat")
    assert (scene.queries[query], scene.keys[key]) == ("it", "dog")
    assert scene.scores[query].argmax() == key
    high, low = (f"**{scene.scores[query, place]:.1f}**" for place in (key, other))
    config = scene.shipped.model.config
    width = config.d_model // config.heads
    return (
        f"{width} numbers each",
        f"square root of {width}",
        f"{high} for “dog”, and {low} for “meat”",
    )


@claim("Scores become weights")
def it_gives_dog_more_than_half(scene):
    result = scene.weights[scene.values["query"], scene.values["key"]]
    assert result > 0.5
    return (f"“it” gives “dog” **{result:.2f}**, more than half of its weight",)


@claim("The head's answer: values, mixed")
def dog_weighs_more_than_twice_as_much_as_the_next(scene):
    most, second = scene.weights[scene.values["query"]].topk(2).values
    assert most > 2 * second
    return (
        f"The value of “dog” has the largest weight, {most:.2f}, and the next has {second:.2f}",
    )


@claim("One head: who looks at whom")
def the_strongest_line_of_it_leads_to_dog(scene):
    assert scene.keys[scene.weights[scene.queries.index("it")].argmax()] == "dog"
    return scene.head, "“it”", "the strongest leads to “dog”"


@claim("Many heads, each in its own way")
def a_head_looks_one_token_back(scene):
    places = range(len(scene.queries) - 1)
    assert sum(scene.weights.argmax(-1)[1:] == scene.weights.new_tensor(places)) >= 8
    assert scene.weights.diagonal(-1).mean() > 0.6
    layers, heads = scene.shape.kinds["encoder"]
    number = scene.values["head"] + 1, scene.values["layer"] + 1
    return f"{layers * heads} heads", "Head {} of layer {} looks one token back".format(*number)


@claim("The decoder looks back at the source")
def a_head_looks_at_the_word_that_is_written_next(scene):
    read = scene.queries.index("voiture")
    seen, written = scene.keys[scene.weights[read].argmax()], scene.queries[read + 1]
    assert (seen, written) == ("red", "rouge")
    return scene.head, f"read “voiture”, it looks at “{seen}”, and “{written}” is written next"


@claim("A head that copies what it cannot translate")
def every_piece_of_a_name_looks_at_its_twin(scene):
    copied = [piece for piece in scene.queries if piece.isalpha() and piece in scene.keys]
    assert "".join(copied) == "DorothyQuillanIbrahim"
    for piece in copied:
        row = scene.weights[scene.queries.index(piece)]
        assert scene.keys[row.argmax()] == piece
    return scene.sentence, scene.head, f"Without it: “{without(scene, scene.link)}”"


@claim("What if one head is missing?")
def without_one_head_half_a_sentence_is_missing(scene):
    kinds = scene.shape.kinds.items()
    names = [
        f"{kind}.{layer + 1}.{head + 1}"
        for kind, (layers, heads) in kinds
        for layer in range(layers)
        for head in range(heads)
    ]
    assert scene.values["edits"] == f"gate.{scene.link}.0"
    whole = scene.shipped.translate(scene.sentence).text
    assert sum(without(scene, name) == whole for name in names) > len(names) / 2
    return (
        scene.sentence,
        f"head {scene.values['head'] + 1} of the first cross-attention",
        f"“{without(scene, scene.link)}”",
        f"One head of {len(names)}",
        "most often the translation stays",
    )


@claim("Beam search keeps several texts")
def the_beam_finds_a_likelier_text(scene):
    beam = Strategy("beam", beam_size=scene.values["beam_size"])
    results = [scene.shipped.write(scene.sentence, way).writing for way in (Strategy(), beam)]
    greedy, best = (result.score for result in results)
    assert best > greedy
    texts = [f"“{item.text}”" for item in results]
    return (
        *texts,
        f"**−{-greedy:.2f}** ({exp(greedy):.0%})".replace("%", " %"),
        f"**−{-best:.2f}** ({exp(best):.0%}): more likely as a whole".replace("%", " %"),
    )


@claim("Looked at, or needed?")
def the_first_word_needs_another_than_it_looks_at(scene):
    result = knockout_of(scene)
    changes, weights = result.changes, result.weights
    the, dog = result.words.index("The"), result.words.index("dog")
    assert (result.written[0], weights[0].argmax()) == ("Le", the)
    assert changes[0].argmin() == dog
    agreed = agreements(weights, changes)
    return (
        scene.shipped.translate(scene.sentence).text,
        f"looks at “The” most, and loses only **{-changes[0, the]:.1f}** nats without it",
        f"without “dog” it loses **{-changes[0, dog]:.2f}** nats, which makes it "
        f"e^{-changes[0, dog]:.2f} = {exp(-changes[0, dog]):.0f} times less likely",
        f"{agreed} of {len(result.written)} tokens lose most without the word",
    )


@claim("Who wrote “rouge”?")
def one_head_adds_most(scene):
    row = scene.values["wrote_word"]
    best = scene.trace.logits[0, row].topk(2).indices.tolist()
    names = [scene.shipped.label(scene.trace, Question("", row), token) for token in best]
    result = attribute(scene.shipped, scene.trace, row, *best)
    site = max(result.heads, key=lambda site: result.heads[site].max())
    head = result.heads[site].argmax().item()
    keys = result.keys[site][head]
    assert scene.trace.key_tokens(site)[keys.argmax()].text == "red"
    assert keys.max() > 0.9 * result.heads[site][head]
    return (
        "“{}” or “{}”".format(*names),
        f"head {head + 1} of layer {site.layer + 1} of the {site.kind}-attention adds most",
        f"**{result.heads[site][head]:.1f}**",
    )


@claim("Where is the colour kept?")
def one_head_alone_brings_a_part_of_the_way_back(scene):
    run = ModelRun(scene.sentence)
    texts = two_texts(run, scene.values["patch_text"])
    row = texts.written.rows[texts.first_apart]
    own, other = texts.written.ids[texts.first_apart], texts.likeliest[1][texts.first_apart][0]
    asked = run, scene.values["patch_text"], AnswerPair(row, own, other)
    result = patched(*asked, "heads", False, lambda *_: None)
    only_weights = patched(*asked, "weights", False, lambda *_: None).parts
    kind = max(result.shares, key=lambda kind: result.shares[kind].max())
    layer, head = divmod(result.shares[kind].argmax(), result.shares[kind].shape[1])
    whole = sum(shares.sum() for shares in result.shares.values())
    assert result.shares["cross"].sum() > 0.9 * whole
    return (
        scene.sentence,
        scene.values["patch_text"],
        f"head {head + 1} of layer {layer + 1} of the {kind}-attention alone brings "
        f"**{100 * result.shares[kind].max():.0f} %** of the way back to "
        f"“{texts.written.texts[texts.first_apart]}”",
        f"all of them together bring {100 * only_weights:.0f} %",
    )


@claim("In: tokens. Out: tokens")
def the_translation_is_quoted(scene):
    return scene.sentence, f"“{scene.shipped.translate(scene.sentence).text}”"


@claim("One head: having read “voiture”, look at “red”")
def the_same_head_as_in_the_long_talk(scene):
    words = a_head_looks_at_the_word_that_is_written_next(scene)
    assert words[1].startswith("read “voiture”, it looks at “red”")
    return scene.head, "after “voiture” it looks at “red”", "“rouge” comes next"


@claim("88 of them, none told what to do")
def the_heads_are_counted(scene):
    sizes = {kind: layers * heads for kind, (layers, heads) in scene.shape.kinds.items()}
    assert sum(sizes.values()) == 88
    others = sum(sizes.values()) - sizes["cross"]
    return f"The {sizes['cross']} heads of the cross-attention", f"another {others} among"


@claim("Does it need what it looks at?")
def without_the_word_its_translation_is_unlikely(scene):
    result = knockout_of(scene)
    lost = -result.changes[result.written.index("rouge"), result.words.index("red")]
    assert exp(lost) > 10_000
    return (f"Without “red”, “rouge” loses **{lost:.1f}** nats",)


def without(scene, head):
    """The translation without a head, by its name in links."""
    edits = read_edits(f"gate.{head}.0", scene.shape).at_sites(scene.shape, 100)
    return scene.shipped.translate(scene.sentence, edits=edits).text


def knockout_of(scene):
    return knocked_out(ModelRun(scene.sentence), None, lambda *_: None)


NO_CLAIM = {
    "A Transformer in five minutes",
    "It writes one token at a time",
    "What a Transformer looks at",
    "Why attention?",
    "No peeking ahead",
    "One token at a time",
    "What to take home",
}


def test_a_ready_talk_is_called_by_its_first_slide():
    assert {name: slides_of(name)[0].title for name in READY.options} == READY.options


def test_every_slide_is_known_to_claim_something_or_nothing():
    assert {slide.title for slide in TALK} == CLAIMS.keys() | NO_CLAIM


@pytest.fixture(autouse=True)
def one_session():
    with session("talk"):
        yield
    end("talk")


@pytest.mark.matrix
@pytest.mark.parametrize("title", CLAIMS)
def test_a_slide_says_what_the_model_does(title, shipped):
    slide = next(slide for slide in TALK if slide.title == title)
    said = " ".join(f"{slide.words} {slide.notes}".split()).lower()
    missing = [words for words in CLAIMS[title](Scene(slide, shipped)) if words.lower() not in said]
    assert missing == [], f"The slide “{title}” should say so, or another example be chosen."
