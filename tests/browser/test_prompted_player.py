"""A decoding that goes on from a prompt, without a source, on a page of its own."""

import numpy as np
import pytest
from playwright.sync_api import expect

from headlight.viz import Bar, decoding_player
from tests.browser.answers import noting, picked
from tests.browser.rest import until

PROMPT, STEPS = 200, 12
READ = [f"token{position}" for position in range(PROMPT + STEPS - 1)]
WEIGHTS = np.random.default_rng(0).random((STEPS, len(READ)), dtype=np.float32)


@pytest.fixture(params=[390, 1280])
def player(page, request):
    """The player, of whose prompt one token is closed."""
    page.set_viewport_size({"width": request.param, "height": 720})
    visible = np.tri(STEPS, len(READ), PROMPT - 1, dtype=bool)
    visible[:, 3] = False
    picture = decoding_player(
        WEIGHTS,
        None,
        visible,
        READ,
        None,
        texts=[" ".join(READ[: PROMPT + step]) for step in range(STEPS + 1)],
        bars=[[Bar(f"next{step}", 0.5, chosen=True)] for step in range(STEPS)],
    )
    page.set_content(noting(picture.to_html()))
    return page


def expect_step(page, step):
    """The step shows all that was read with its weights, the newest token in view."""
    names = page.locator(".weighed-tokens .name")
    expect(names).to_have_text(READ[: PROMPT + step])
    weights = [f"{weight:.3f}" for weight in WEIGHTS[step, : PROMPT + step]]
    weights[3] = ""  # a cross is drawn
    expect(page.locator(".weighed-tokens .token > div")).to_have_text(weights)
    expect(page.locator(".weighed-tokens .token > .closed svg")).to_have_count(1)
    expect(page.locator(".token.prompt")).to_have_count(PROMPT)
    newest = page.locator(".token.newest .name")
    expect(newest).to_have_text(READ[PROMPT + step - 1])
    inside = page.locator(".weighed-tokens").bounding_box()
    box = newest.bounding_box()
    assert inside["y"] <= box["y"]
    assert box["y"] + box["height"] <= inside["y"] + inside["height"]


def test_a_long_prompt_leaves_the_newest_token_and_the_text_written_in_view(player):
    expect_step(player, 0)
    player.get_by_role("button", name="Step forward").click()
    expect_step(player, 1)
    player.get_by_role("button", name="Last step").click()
    expect_step(player, STEPS - 1)
    text, new = (player.locator(name).bounding_box() for name in (".text", ".text .new"))
    assert text["height"] < 200
    assert new["y"] + new["height"] <= text["y"] + text["height"] + 1
    assert player.locator("canvas").count() == 0
    assert player.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert player.errors == []


def test_a_weight_of_the_prompt_answers_with_its_place(player):
    player.get_by_role("button", name="Step forward").click()
    until(player, lambda: picked(player) == [1, None])  # the page is told of the step at rest
    player.locator(".token").nth(150).get_by_role("button").click()
    assert picked(player) == [1, {"kind": "decoder", "key": 150}]
    assert player.errors == []
