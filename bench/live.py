"""python -m bench.live: the translator in a browser, compared with the one in Python."""

import base64

from playwright.sync_api import Page, sync_playwright

from bench.report import Case, compare_times, json_option, report
from headlight.model.translator import Translator, load_translator
from headlight.viz.modules import in_order, script
from headlight.wings.live.page import EXAMPLES, HERE, weights_file
from tests.browser.install import LAUNCH, chromium_path

START = """text => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const { tokenizer, ...weights } = $read_weights.readWeights(bytes);
  const model = $transformer.transformerOf(weights);
  window.runs = $worker.runner(model, $tokenizer.tokenizerOf(tokenizer), (_, make) => make());
}"""
RUN = """text => runs({ text, beamSize: 1, forced: [], typed: "",
  edits: { gates: {}, cells: [], off: [], positions: [] } }).run.text"""


def sentences(page: Page, translator: Translator) -> Case:
    """Compare translating the examples with all weights kept, in the browser and in Python."""

    def in_browser() -> list[str]:
        return [page.evaluate(RUN, sentence) for sentence in EXAMPLES]

    def in_python() -> list[str]:
        written = [translator.write(sentence).writing for sentence in EXAMPLES]
        for sentence, writing in zip(EXAMPLES, written, strict=True):
            translator.trace(sentence, writing)
        return [writing.text for writing in written]

    assert in_browser() == in_python()
    return compare_times(f"{len(EXAMPLES)} sentences in a browser", in_browser, in_python)


def main() -> None:
    path, translator = json_option(), load_translator("en-fr")
    browser_path = chromium_path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, **LAUNCH)
        page = browser.new_page()
        page.add_script_tag(content=script(in_order([HERE / "worker.js"])))
        weights = weights_file(translator.model, translator.tokenizer)
        page.evaluate(START, base64.b64encode(weights).decode())
        report([sentences(page, translator)], path)
        browser.close()


if __name__ == "__main__":
    main()
