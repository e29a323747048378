"""The steps of a weight, in models of every sort."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from headlight.model.edits import Edits
from headlight.model.insight.anatomy import Weight
from headlight.model.transformer.trace import Site
from headlight.pages.parts.inside.calls import taken_apart
from headlight.pages.parts.inside.page import PAGE
from headlight.pages.parts.inside.steps import scaling, softmax, steps_of, value_rows
from headlight.pages.parts.inside.why import PICTURES as WHY
from headlight.pages.shared.runs.run import ModelRun
from headlight.pages.shared.runs.shelf import shelf
from headlight.pages.shared.state.models import LIBRARY
from headlight.viz.numbers import number_text
from tests.model.library.conftest import LATENT, SIZE, save_model
from tests.pages.sessions import end, session
from tests.viz.unpacking import split

OWN_SCALE = SIZE | {"num_key_value_heads": 2, "head_dim": 8, "query_pre_attn_scalar": 3}
GEMMA = "Gemma3ForCausalLM", "Gemma3TextConfig", OWN_SCALE
RUN = ModelRun("I love my cat.", model="en-fr-learned")
WEIGHT = Weight(RUN, Site("cross", 1), 2, 1, 3)


@pytest.fixture(autouse=True)
def visitor():
    with session("steps"):
        yield
    end("steps")


def test_the_pictures_that_a_slide_can_show_are_drawn():
    drawn = [key for step in steps_of(WEIGHT) for key in step.pictures]
    assert len(set(drawn)) == len(drawn)
    assert {*PAGE.pictures} - {*drawn} == {"source", "five-views", "lens", *WHY}


def test_the_weighted_values_shown_sum_to_what_the_head_takes():
    faded = Edits(gates={("cross", 1, 2): 0.5})
    run = ModelRun("The red car is faster than the blue car.", edits=faded, model="en-fr-learned")
    weight = Weight(run, Site("cross", 1), 2, 1, 3)
    *parts, whole = value_rows(taken_apart(weight), weight.key, weight.key_tokens)
    assert parts[-1].label == "faded to 0.50"
    assert parts[-2].label.endswith("other keys")
    np.testing.assert_allclose(sum(part.values for part in parts), whole.values, atol=1e-5)


def weight_in(folder, site, second=""):
    """A weight of a model of the transformers library."""
    shelf().ask(str(folder)).join()
    run = ModelRun("the cat was playing.", second=second, model=LIBRARY + str(folder))
    return Weight(run, site, 1, 3, 2)


def weight_of(folder, pairs, *made):
    """A weight of a decoder that is saved by its class, its config and its options."""
    save_model(folder, [text for pair in pairs for text in pair], *made, None)
    return weight_in(folder, Site("decoder", 1))


def projections(weight):
    """The step that makes queries, keys and values."""
    return next(step for step in steps_of(weight) if step.title == "Query, key and value")


def of_scaling(weight):
    """The step from the dot product to the score."""
    return next(step for step in steps_of(weight) if step.title == "The scaling")


def test_a_bert_norms_its_input_and_the_sum(bert_folder):
    steps = steps_of(weight_in(bert_folder, Site("encoder", 2), "it sat!"))
    first, last = steps[0], steps[-1]
    assert "sentence it belongs to" in first.words
    assert "layer 3" in first.words
    assert "(e + s + p)" in first.formula
    assert last.formula == r"x' = \mathrm{norm}(x + \text{block}(x))"
    assert [step.title for step in steps] == [step.title for step in steps_of(WEIGHT)]


@pytest.mark.parametrize(
    ("name", "site", "records_stream"),
    [
        ("T5", Site("cross", 0), True),
        ("GPT-2", Site("decoder", 1), True),
        ("T5", Site("encoder", 0), False),
    ],
)
def test_a_model_of_the_library_has_the_steps_that_it_records(
    name, site, records_stream, transformers_folders
):
    steps = steps_of(weight_in(transformers_folders[name], site))
    titles, every = ([step.title for step in each] for each in (steps, steps_of(WEIGHT)))
    assert titles == (every if records_stream else every[1:-1])
    (product,) = (step for step in steps if step.title == "The dot product")
    assert ("Why it looks there" in product.words) == records_stream


def test_a_bias_of_distances_is_added_to_the_score(transformers_folders):
    weight = weight_in(transformers_folders["T5"], Site("encoder", 1))
    part = taken_apart(weight)
    scale = of_scaling(weight)
    bias, score = part.score_bias[weight.key].item(), part.scores[weight.key].item()
    assert bias != 0
    assert f"is added: {number_text(bias)}" in scale.words
    assert scale.formula.endswith(f"{bias:+.3f} = {score:.3f}")
    assert part.dot * part.scale + bias == pytest.approx(score, abs=1e-5)


def test_no_bias_is_told_where_there_is_no_table_of_distances(transformers_folders):
    step = of_scaling(weight_in(transformers_folders["T5"], Site("cross", 0)))
    assert "is added" not in step.words


def test_the_words_say_of_the_scale_what_the_formula_does(transformers_folders, tmp_path, pairs):
    divides = of_scaling(WEIGHT)
    assert "is divided by" in divides.words
    assert r"/ \sqrt" in divides.formula
    leaves = of_scaling(weight_in(transformers_folders["T5"], Site("encoder", 1)))
    assert "This one does not" in leaves.words
    assert r"\times" not in leaves.formula
    multiplies = of_scaling(weight_of(tmp_path, pairs, *GEMMA))
    assert "multiplied by a number of this model's own, 0.577350," in multiplies.words
    assert r"\times 0.577350" in multiplies.formula


def test_shared_and_rotated_keys_are_told(transformers_folders):
    weight = weight_in(transformers_folders["Llama"], Site("decoder", 0))
    words = projections(weight).words
    assert "after the rotation" in words
    assert "4 heads have 2 keys and values" in words
    assert "rotation" not in steps_of(WEIGHT)[1].words
    assert "shared" not in steps_of(WEIGHT)[1].words


def test_values_narrower_than_queries_stand_apart(tmp_path, pairs):
    weight = weight_of(tmp_path, pairs, "DeepseekV3ForCausalLM", "DeepseekV3Config", LATENT)
    steps, part = {step.title: step for step in steps_of(weight)}, taken_apart(weight)
    assert (len(part.query), len(part.value)) == (10, 5)
    first, last = projections(weight), steps["All heads, and the output projection"]
    assert [*first.pictures] == ["story-projections", "story-value"]
    header, _ = split(last.pictures["story-heads"].data)
    assert header["marked"] == [5, 6, 7, 8, 9], "the second head"
    assert r"(1\times 20)(20\times 16)" in last.formula


def test_formulas_have_biases_only_where_they_are_known(transformers_folders):
    _, maps, *_, output, _ = steps_of(WEIGHT)
    assert "+ b^V" in maps.formula
    assert "+ b^O" in output.formula
    assert "the bias sum to" in output.words
    _, maps, *_, output, _ = steps_of(weight_in(transformers_folders["Llama"], Site("decoder", 0)))
    for step in (maps, output):
        assert "b^" not in step.formula
        assert "If this model adds biases here, the formula leaves them out." in step.words
    assert "the bias sum to" not in output.words


def test_numbers_in_words_have_a_true_minus():
    part = replace(taken_apart(WEIGHT), sink=-0.133, score_bias=torch.full((9,), -0.5))
    assert "one more score, −0.133, that" in softmax(WEIGHT, part).words
    assert "is added: −0.500." in scaling(WEIGHT, part).words
