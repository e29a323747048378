from shutil import copytree

import numpy as np
import pytest

from headlight.model.decoding.strategies import Strategy
from headlight.model.edits import Edits
from headlight.model.insight.scoring import trace_log_probabilities
from headlight.model.tokens import START_ID
from headlight.pages.parts.decoding.request import Branch
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state.models import BEAM_EXAMPLES, EXAMPLES
from headlight.viz.numbers import number_text
from tests.matrix import first_of
from tests.model.library.conftest import END
from tests.pages import apps
from tests.pages.apps import address, keep, open_with
from tests.pages.pictures import canvas_pictures

SENTENCE = "My sister sold seven boats."
OTHER = "The old man saw the moon."


@pytest.fixture
def app():
    return open_page()


def open_page(**parameters):
    scene = {"sentence": SENTENCE, "layer": "3", "head": "2", **parameters}
    app = apps.open_page("decoding", **scene)
    assert not app.exception
    return app


def picture(app, part):
    """The header and the bytes of the picture whose header has a part of this name."""
    return next(found for found in canvas_pictures(app) if part in found[0])


def player(app):
    """The player's header, and its weights over what was read, over the source, and its mask."""
    header, body = picture(app, "bars")
    steps, source = len(header["read"]), len(header["source"])
    values = np.frombuffer(body, np.float32)
    parts = np.split(values, [steps * steps, steps * (steps + source)])
    return header, *(part.reshape(steps, -1) for part in parts)


def metric(app, label):
    (found,) = (metric for metric in app.metric if metric.label == label)
    return found.value


def branch_to(app, shipped, forced, step, sentence=SENTENCE):
    """Show the branch that begins with forced ids, the last of them from a step on."""
    tokens = list(shipped.write(sentence, forced=forced))[step : len(forced)]
    text = " ".join(one.token.text for one in tokens)
    app.session_state["branch"] = Branch(forced, step, text)
    app.session_state["step"] = step
    return app.run()


def branches_in(app):
    """The free run and the branches made from it."""
    return app.session_state["branches"][-1].kept


def test_every_step_shows_the_run_that_made_the_translation(app, shipped):
    decoding = shipped.write(SENTENCE)
    header, own, cross, visible = player(app)
    assert header["texts"][-1] == decoding.writing.text
    assert header["read"] == ["<start>", *(step.token.text for step in decoding.steps[:-1])]
    assert header["source"] == [token.text for token in decoding.writing.source_tokens]
    for place, step in enumerate(decoding):
        width = place + 1
        np.testing.assert_allclose(own[place, :width], step.weights["decoder", 2][1], atol=1e-5)
        assert not own[place, width:].any()
        np.testing.assert_allclose(cross[place], step.weights["cross", 2][1], atol=1e-5)
        shown = [bar["probability"] for bar in header["bars"][place]]
        assert shown == pytest.approx([c.probability for c in step.top(10)], abs=1e-5)
        (written,) = [bar["text"] for bar in header["bars"][place] if bar["chosen"]]
        assert written == step.token.text
    np.testing.assert_array_equal(visible, np.tri(len(header["read"])))
    assert header["ending"] == "The end token: the text stops here."


def test_a_mean_over_heads_is_that_of_the_layer(app, shipped):
    app.selectbox(key="head").set_value("mean").run()
    _, own, cross, _ = player(app)
    trace = shipped.trace(SENTENCE)
    np.testing.assert_allclose(own, trace.weights("decoder")[2].mean(0), atol=1e-5)
    np.testing.assert_allclose(cross, trace.weights("cross")[2].mean(0), atol=1e-5)


def test_a_limit_stops_the_translation_and_the_page_says_so():
    app = open_page(longest="3")
    header, *_ = player(app)
    assert len(header["read"]) == 3
    assert header["ending"] == "Stopped at the limit, after 3 tokens."


@pytest.mark.parametrize("longest", [64, 3])
def test_what_was_sampled_is_said_next_to_what_greedy_writes(shipped, longest):
    app = open_page(strategy="sample", seed="0", longest=str(longest))
    made = shipped.write(SENTENCE, Strategy("sample", seed=0), longest=longest).writing
    greedy = shipped.write(SENTENCE, longest=longest).writing.text
    (said,) = [text.value for text in app.text if "Sampling" in text.value]
    assert said.startswith(f"Sampling with seed 0 writes “{made.text}”")
    assert ("The text was cut off at the limit." in said) == (not made.finished)
    assert f"{number_text(made.score)} nats" in said
    assert ("Greedy writes the same." in said) == (made.text == greedy)
    (token,) = shipped.begin("Un")
    forced = open_page(strategy="sample", seed="0", branch=f"1:{token.id}:{token.text}")
    assert any("Greedy, with the same tokens forced, writes" in text.value for text in forced.text)


def test_a_beam_is_drawn_as_a_tree(shipped):
    app = open_page(strategy="beam", beam_size="3", length_penalty="0.5")
    decoding = shipped.write(SENTENCE, Strategy("beam", beam_size=3, length_penalty=0.5))
    header, _ = picture(app, "steps")
    assert [[leaf["text"] for leaf in leaves] for leaves in header["steps"]] == [
        [node.text for node in nodes] for nodes in decoding.tree
    ]
    best = [
        next(i for i, leaf in enumerate(s) if leaf["best"])
        for s in header["steps"]
        if any(leaf["best"] for leaf in s)
    ]
    assert best == decoding.path
    assert player(app)[0]["texts"][-1] == decoding.writing.text


def test_a_node_of_the_tree_shows_its_own_steps(shipped):
    app = open_page(strategy="beam")
    decoding = shipped.write(SENTENCE, Strategy("beam"))
    step, place = 4, 6
    node = decoding.tree[step][place]
    assert not node.kept
    of, _ = app.session_state["node"]
    app.session_state["node"], app.session_state["step"] = (of, (step, place)), step
    app.run()
    header, _, cross, _ = player(app)
    assert header["texts"][-1] == node.text
    assert header["start"] == step
    assert header["ending"] == "Dropped here."
    ids = decoding.ids_of(decoding.path_to(step, place))
    logits_of = shipped.trace(SENTENCE, node.text)
    assert [token.id for token in logits_of.target_tokens] == [START_ID, *ids]
    expected = logits_of.weights("cross")[2][1][: step + 1]
    np.testing.assert_allclose(cross, expected, atol=1e-5)
    app.number_input(key="beam_size").set_value(2).run()
    assert player(app)[0]["texts"][-1] != node.text


def test_a_branch_stands_beside_the_original_and_can_be_removed(app, shipped):
    decoding = shipped.write(SENTENCE)
    second = decoding[1].top(2)[1].token
    forced = (decoding[0].token.id, second.id)
    branch_to(app, shipped, forced, 1)
    branch = shipped.translate(SENTENCE, prefix=forced)
    header, *_ = player(app)
    assert header["texts"][-1] == branch.text
    assert header["start"] == 1
    strips = [h for h, _ in canvas_pictures(app) if "chips" in h]
    assert [strip["text"] for strip in strips] == [decoding.writing.text, branch.text]
    assert f"{number_text(branch.score)} nats" in strips[1]["label"]
    assert any(chip["changed"] for chip in strips[1]["chips"])
    app.button(key="show-0").click().run()
    assert player(app)[0]["texts"][-1] == decoding.writing.text
    app.button(key="remove-1").click().run()
    assert not app.exception
    assert branches_in(app) == [Branch()]
    branch_to(app, shipped, forced, 1)
    app.button(key="undo-forced").click().run()
    assert player(app)[0]["texts"][-1] == decoding.writing.text
    assert branches_in(app) == [Branch()]


def opened_by_link(shipped):
    """A page opened by the link of a forced token at a step, its parameters and its decoding."""
    app = open_page(sentence="I love my cat.")
    (typed,) = shipped.begin("J'aime")[:1]
    decoding = shipped.write("I love my cat.", forced=(typed.id,))
    branch_to(app, shipped, (typed.id,), 0, "I love my cat.")
    app.session_state["step"] = 2
    app.run()
    parameters = address(app)
    assert parameters["branch"] == f"1:{typed.id}:{typed.text}"
    assert parameters["step"] == "3"
    other = open_page(**parameters)
    header, *_ = player(other)
    assert header["texts"][-1] == decoding.writing.text
    assert header["start"] == 2
    assert address(other) == parameters
    assert not other.info
    return other, parameters, decoding


def test_a_forced_token_and_the_step_come_back_by_the_link(shipped):
    other, _, _ = opened_by_link(shipped)
    other.text_input(key="sentence").set_value(OTHER).run()
    assert player(other)[0]["texts"][-1] == shipped.translate(OTHER).text
    assert player(other)[0]["start"] == 0


@pytest.mark.matrix
@pytest.mark.parametrize(
    "branch",
    [
        "1:40:of another vocabulary",
        "1:9999999:x",
        "1:0:<pad>",
        "1:" + ".".join(["40"] * 300) + ":x",
        "<script>",
    ],
)
def test_a_branch_of_an_address_that_makes_no_sense_is_refused(shipped, branch):
    app = open_page(branch=branch)
    assert player(app)[0]["texts"][-1] == shipped.translate(SENTENCE).text
    assert any("too old, damaged or too long" in info.value for info in app.info)
    assert "branch" in [text.value for text in app.text]
    assert "branch" not in address(app)
    app.run()
    assert not app.info


def test_another_sentence_starts_without_branches(app, shipped):
    branch_to(app, shipped, (40,), 0)
    app.text_input(key="sentence").set_value(OTHER).run()
    assert not app.exception
    assert player(app)[0]["texts"][-1] == shipped.translate(OTHER).text
    assert branches_in(app) == [Branch()]


def test_a_temperature_of_zero_is_explained_and_the_last_result_stays():
    app = open_page(strategy="sample", seed="5", temperature="2.0")
    before = player(app)[0]
    app.number_input(key="temperature").set_value(0.0).run()
    assert any("instead of 0, decode greedily" in text.value for text in app.text)
    assert "previous result is still shown" in app.error[0].value
    assert player(app)[0] == before
    app.number_input(key="temperature").set_value(1.0).run()
    assert not app.error


def test_a_limit_below_what_is_forced_is_explained_and_the_last_result_stays(app, shipped):
    branch_to(app, shipped, (40, 50, 60, 70), 3)
    before = player(app)[0]
    app.number_input(key="longest").set_value(2).run()
    assert any("forced beginning has 4 tokens" in text.value for text in app.text)
    assert player(app)[0] == before


def test_edits_of_the_other_pages_are_in_force(app, shipped):
    edits = Edits(
        gates={("cross", 2, head): 0.0 for head in range(8)}, masks={("window", "decoder"): (1,)}
    )
    app.session_state["histories"] = {"en-fr": [Edits(), edits]}
    app.run()
    sites = edits.at_sites(shipped.shape, 70)
    decoding = shipped.write(SENTENCE, edits=sites)
    header, own, _, visible = player(app)
    assert header["texts"][-1] == decoding.writing.text
    np.testing.assert_allclose(own[3, :4], decoding[3].weights["decoder", 2][1], atol=1e-5)
    assert visible[3].tolist()[:4] == [0, 0, 1, 1]


def test_teacher_forcing_shows_each_reference_token(app, shipped):
    reference = "Ma sœur a vendu sept bateaux."
    app.text_input(key="target").set_value(reference).run()
    header, body = picture(app, "wanted")
    trace = shipped.trace(SENTENCE, reference)
    read = [token.text for token in trace.target_tokens]
    assert header["read"] == read
    assert header["wanted"] == [*read[1:], "<end>"]
    expected = trace_log_probabilities(trace)
    values = np.frombuffer(body, np.float32).reshape(2, -1)
    np.testing.assert_allclose(values[0], expected.exp(), atol=1e-5)
    assert (values[1] >= values[0] - 1e-6).all()
    assert metric(app, "The reference, forced") == f"{number_text(expected.sum())} nats"
    assert (
        metric(app, "The text written above")
        == f"{number_text(shipped.translate(SENTENCE).score)} nats"
    )


def test_the_models_own_translation_is_what_it_finds_likeliest(app):
    header, _ = picture(app, "wanted")
    assert header["favourites"] == header["wanted"]
    assert (
        metric(app, "Reference token ranked first")
        == f"{len(header['wanted'])} of {len(header['wanted'])}"
    )


@pytest.mark.parametrize("ends", [True, False])
@pytest.mark.parametrize("name", first_of(["Llama", "GPT-2", "Marian", "M2M100"]))
def test_the_models_own_text_has_the_same_score_when_it_is_forced(
    name, ends, transformers_folders, tmp_path
):
    folder = copytree(transformers_folders[name], tmp_path / name)
    reader = shelf().get(keep(folder)).reader
    if ends:  # where it would write its third token
        third = reader.write(EXAMPLES[0]).writing.target_tokens[2].id
        rows = reader.model.get_output_embeddings().weight.data
        rows[END] = 1.5 * rows[third]
    assert reader.write(EXAMPLES[0]).writing.finished == ends
    app = open_with(folder, "decoding", sentence=EXAMPLES[0])
    assert metric(app, "The reference, forced") == metric(app, "The text written above")
    header, _ = picture(app, "wanted")
    assert header["favourites"] == header["wanted"]


@pytest.mark.parametrize(("sentence", "right"), BEAM_EXAMPLES.items())
def test_a_beam_is_right_where_greedy_decoding_is_not(shipped, sentence, right):
    assert shipped.write(sentence, Strategy("beam"), longest=64).writing.text == right
    assert shipped.translate(sentence).text != right


def test_the_examples_begin_with_those_of_the_beam():
    app = open_page(strategy="beam")
    for sentence in BEAM_EXAMPLES:
        assert sentence in app.menu_button(key="example").options
    app.menu_button(key="example").click(next(iter(BEAM_EXAMPLES))).run()
    assert player(app)[0]["texts"][-1] == next(iter(BEAM_EXAMPLES.values()))
