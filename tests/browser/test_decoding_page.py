"""Playing, stepping and steering a decoding by mouse and by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from headlight.model.decoding.strategies import Strategy
from headlight.model.insight.cache import write_evicting
from headlight.model.translator import load
from headlight.viz.numbers import number_text
from tests.browser.boxes import choose_in

SENTENCE = "My brother bought three old bicycles yesterday."


@pytest.fixture
def decoding(page, server):
    """A function that opens the page with some settings."""

    def visit(settings=""):
        page.goto(f"{server}/decoding?sentence={SENTENCE}&layer=3&head=2{settings}")
        page.get_by_text("Reference token ranked first").wait_for()
        return page

    return visit


def text(page):
    return page.locator(".decoding-player .text")


def counter(page):
    return page.locator(".decoding-player .counter")


def written(weights):
    return list(map(number_text, weights.tolist()))


def of_source(page):
    """The weights over the source."""
    return page.locator(".decoding-player .weighed-tokens").nth(1).locator(".weight")


def expect_step(page, steps, place):
    """The player shows this step's text, weights and candidates."""
    step = steps[place]
    expect(counter(page)).to_have_text(f"step {place + 1} of {len(steps)}")
    own, source = (page.locator(".decoding-player .weighed-tokens").nth(at) for at in (0, 1))
    expect(own.locator(".weight")).to_have_text(written(step.weights["decoder", 2][1]))
    expect(source.locator(".weight")).to_have_text(written(step.weights["cross", 2][1]))
    expect(own.locator(".coming")).to_have_count(len(steps) - place - 1)
    expect(own.locator(".closed")).to_have_count(0)
    names = page.locator(".decoding-player .bar .name span:last-child")
    expect(names).to_have_text([candidate.token.text for candidate in step.top(10)])
    expect(page.locator(".decoding-player .bar.chosen .name span").last).to_have_text(
        step.token.text
    )


def test_a_decoding_is_played_and_stepped_back(decoding, translator):
    page = decoding()
    steps = translator.write(SENTENCE).steps
    expect_step(page, steps, 0)
    page.locator(".decoding-player").get_by_label("Speed").select_option("8")
    page.locator(".decoding-player").get_by_role("button", name="Play").click()
    expect_step(page, steps, len(steps) - 1)
    expect(text(page)).to_contain_text("The end token: the text stops here.")
    expect(
        page.locator(".decoding-player").get_by_role("button", name="Play")
    ).to_be_visible()  # it paused at the end
    page.locator(".decoding-player").get_by_role("button", name="Step back").click()
    expect_step(page, steps, len(steps) - 2)
    page.locator(".decoding-player").get_by_label("Step", exact=True).press("Home")
    expect_step(page, steps, 0)
    page.locator(".decoding-player").get_by_label("Step", exact=True).press("ArrowRight")
    expect_step(page, steps, 1)


@pytest.mark.matrix
def test_the_text_has_its_whole_height_at_every_step(decoding):
    page = decoding()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(counter(page)).to_contain_text("step 1 of ")
    first = text(page).evaluate("node => node.offsetHeight")
    page.locator(".decoding-player").get_by_role("button", name="Last step").click()
    expect(text(page)).to_contain_text("The end token")
    assert text(page).evaluate("node => node.offsetHeight") == first


def test_only_what_is_closed_is_crossed_out_and_all_tokens_are_in_sight(decoding):
    page = decoding("&edits=look-ahead.off~close.decoder.all.all.2.1-2")
    own, source = (page.locator(".decoding-player .weighed-tokens").nth(at) for at in (0, 1))
    expect(own.locator(".weight")).to_have_count(1)
    expect(own.locator(".closed")).to_have_count(0)
    for tokens in (own, source):
        assert tokens.evaluate("node => node.scrollWidth <= node.clientWidth")
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    expect(own.locator(".closed")).to_have_count(2)
    page.get_by_text("All tokens that it could look at are closed:").wait_for()
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    expect(own.locator(".closed")).to_have_count(0)
    expect(own.locator(".weight")).to_have_count(3)


@pytest.mark.matrix
def test_the_last_token_is_never_alone_in_its_line(decoding):
    for tokens in decoding().locator(".decoding-player .weighed-tokens").all():
        below = tokens.evaluate(
            """list => {
              const tokens = [...list.querySelectorAll(".token")];
              const ends = () => tokens.map((token) => token.getBoundingClientRect().bottom);
              let width = list.clientWidth;
              while (new Set(ends()).size === 1) list.style.width = `${(width -= 4)}px`;
              return ends().filter((end) => end !== ends()[0]).length;
            }"""
        )
        assert below == 2


@pytest.mark.matrix
def test_another_head_leaves_the_visitor_at_the_step(decoding, translator):
    page = decoding()
    for _ in range(3):
        page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    choose_in(page, "Head", "5")
    weights = translator.write(SENTENCE)[3].weights["cross", 2][4]
    expect(of_source(page)).to_have_text(written(weights))
    expect(counter(page)).to_contain_text("step 4 of")


def test_a_forced_token_makes_a_branch_beside_the_original(decoding, translator):
    page = decoding()
    plain = translator.write(SENTENCE)
    page.locator(".decoding-player").get_by_role("button", name="Step forward").click()
    page.locator(".decoding-player .bar").nth(1).click()
    page.get_by_role("button", name="Remove").wait_for()
    second = plain[1].top(2)[1].token
    branch = translator.write(SENTENCE, forced=[plain[0].token.id, second.id])
    expect_step(page, branch.steps, 1)
    texts = [plain.writing.text, branch.writing.text]
    expect(page.locator(".token-strip .text")).to_have_text(texts)
    page.get_by_role("button", name="Remove").click()
    expect(counter(page)).to_have_text(f"step 1 of {len(plain)}")
    expect(page.get_by_role("button", name="Remove")).to_have_count(0)


def test_a_typed_text_is_forced(decoding, translator):
    page = decoding()
    typed = page.get_by_label("Text to force at this step")
    typed.fill("Hier")
    typed.press("Enter")
    page.get_by_role("button", name="Remove").wait_for()
    branch = translator.translate(SENTENCE, prefix="Hier")
    expect(page.locator(".token-strip .text").nth(1)).to_have_text(branch.text)


def test_a_text_that_the_model_cannot_write_is_refused(decoding):
    page = decoding("&model=en-fr-learned")
    typed = page.get_by_label("Text to force at this step")
    typed.fill("漢<b>字</b>")
    typed.press("Enter")
    page.get_by_text("The model has no token for").wait_for()
    steps = load("en-fr-learned").write(SENTENCE)
    expect(counter(page)).to_contain_text(f"of {len(steps)}")


@pytest.mark.matrix
def test_a_node_of_the_beam_shows_its_steps(decoding, translator):
    page = decoding("&strategy=beam&beam_size=3")
    beam = translator.write(SENTENCE, Strategy("beam", beam_size=3))
    expect(text(page)).to_contain_text(beam[0].token.text)
    node = beam.tree[2][4]
    name = re.compile(rf"^Step 3: “{re.escape(node.text)}”.*dropped$")
    page.locator(".beam-tree").get_by_role("button", name=name).click()
    expect(text(page)).to_have_text(f"{node.text}Dropped here.")
    steps = beam.steps_to(beam.path_to(2, 4))
    expect(of_source(page)).to_have_text(written(steps[2].weights["cross", 2][1]))
    page.get_by_role("button", name="Back to the text that was returned").click()
    expect(counter(page)).to_have_text(f"step 1 of {len(beam)}")


@pytest.mark.matrix
def test_evicted_keys_are_gone_from_the_heads_that_evict_them(page, server, translator):
    page.goto(f"{server}/decoding?sentence={SENTENCE}&eviction=window&kept_keys=2&layer=1")
    heads = page.locator(".step-cells").nth(1)
    steps = len(write_evicting(translator, SENTENCE, "window", 2))
    heads.get_by_role("button", name="Last step").click()
    count = translator.shape.heads("decoder")
    expect(heads.locator("td.held")).to_have_count(2 * count)
    expect(heads.locator("td.new")).to_have_count(count)
    expect(heads.locator("td.gone")).to_have_count((steps - 3) * count)
    page.get_by_text(re.compile("^With 2 keys in each head the text")).wait_for()


def test_the_cache_grows_as_it_plays(decoding, translator):
    page = decoding()
    steps = len(translator.write(SENTENCE))
    cache = page.locator(".step-cells")
    own = cache.locator("table").first
    expect(own.locator(".new")).to_have_count(3)  # one position in each of three layers
    expect(own.locator(".absent")).to_have_count(3 * (steps - 1))
    legend = ["not read yet", "read from the cache", "computed at this step"]  # only what occurs
    expect(cache.locator(".legend > span")).to_have_text(legend)
    cache.get_by_role("button", name="Last step").click()
    expect(cache.locator(".said")).to_contain_text(f"{steps - 1} read from the cache")
    expect(own.locator(".held")).to_have_count(3 * (steps - 1))
    cache.get_by_role("button", name="First step").click()
    cache.get_by_role("button", name="Play").click()
    expect(own.locator(".held").first).to_be_visible()


def test_a_slider_and_the_speed_look_the_same_in_every_browser(page, server):
    page.goto(f"{server}/decoding")
    for name in ("slider", "speed"):
        expect(page.locator(f".transport .{name}").first).to_have_css("appearance", "none")
    slider = page.locator(".transport .slider").first
    slider.click()
    expect(slider).to_have_value("6")  # its middle
