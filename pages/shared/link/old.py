"""Links and slides of the page BERT and others, which is gone, as those of other pages now.

It had every choice a second time, for a model of the transformers library.
"""

from __future__ import annotations

from collections.abc import Mapping

from pages.shared.link.link import VERSION_KEY
from pages.shared.state.catalog import LIBRARY
from pages.shared.state.page import PAGES

OLD_PAGE = "bert"
RENAMED = {  # to choices that mean the same for every model
    "bert_first": "sentence",
    "bert_second": "second",
    "bert_target": "decoder_text",
    "bert_kind": "kind",
    "bert_layer": "layer",
    "bert_head": "head",
    "bert_picture": "picture",
    "bert_masked": "masked",
    "bert_edits": "edits",
    "bert_between": "between",
    "bert_special": "special",
    "bert_units": "units",
    "bert_rows": "rows",
    "bert_query": "query",
    "bert_key": "key",
    "bert_inside_tab": "inside_tab",
}
PICTURES = {"tokens": "source", "predictions": "answer-0"}  # that have another key now
DEFAULTS = {  # other ones than those choices have
    "bert_first": "The cat did not cross the street.",
    "bert_second": "It was too tired.",
    "bert_kind": "encoder",
    "bert_layer": "1",
}
# Version 1 wrote a tab by its title.
TABS = {"switches": "heads", "Switch heads": "heads", "inside": "inside", "Inside a head": "inside"}


def page_and_parameters(page: str, parameters: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the key of the page that a link leads to now, and its parameters there.

    Choices that only the other parts of the old page had are left out.
    """
    if page != OLD_PAGE:
        return page, dict(parameters)
    if not parameters.get("bert_name"):
        return "models", {}
    leads_to = TABS.get(parameters.get("bert_tab", ""), "attention")
    there = {VERSION_KEY, *(choice.key for choice in PAGES[leads_to].linked)}
    found = renamed(parameters)
    return leads_to, {name: value for name, value in found.items() if name in there}


def renamed(parameters: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters of a link to a library's model under the names all models share.

    What such a link says under these names was of another model, which it did not show.
    """
    others = {name: value for name, value in parameters.items() if not name.startswith("bert_")}
    if not parameters.get("bert_name"):
        return others
    found = {
        new: value
        for name, value in {**DEFAULTS, **parameters}.items()
        if (new := RENAMED.get(name))
    }
    found["model"] = LIBRARY + parameters["bert_name"]
    return {name: value for name, value in others.items() if name not in RENAMED.values()} | found
