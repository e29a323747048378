"""Count how often heads link a pronoun to its noun: python -m recipe.pronouns --sentences FILE.

The counts are added to an atlas. A line of the file has a sentence, the index of the pronoun among
its words, and that of its noun, with tabs between them; indices count from 0.
"""

import argparse
import gzip
import json
from dataclasses import replace
from pathlib import Path

from headlight.model.translator import PRETRAINED, load_translator
from headlight.wings.atlas.figures import defined, listed
from headlight.wings.atlas.files import digest_of, load, write
from headlight.wings.atlas.pronouns import PRONOUN, Linked, linked, read_references

OVER = (
    "{words}: in {sentences} sentences written by hand, not in the corpus; by chance it would be "
    "{share:.2f}"
)
ATLAS = PRETRAINED / "en-fr" / "atlas"


def with_pronouns(data: dict, result: Linked) -> dict:
    """Return the data of an atlas with these counts in place of earlier ones."""
    share = result.chance / result.sentences
    words = OVER.format(words=PRONOUN.words, sentences=result.sentences, share=share)
    others = [each for each in data["statistics"] if each["name"] != PRONOUN.name]
    encoder = data["kinds"]["encoder"]
    own = {PRONOUN.name: {"mean": listed(result.hits / result.sentences)}}
    chance = float(f"{result.chance:.7g}")
    return data | {
        "about": data["about"] | {"pronouns": {"sentences": result.sentences, "chance": chance}},
        "statistics": [*others, *defined((replace(PRONOUN, words=words),))],
        "kinds": data["kinds"] | {"encoder": encoder | {"figures": encoder["figures"] | own}},
    }


def main() -> None:
    """Count links, print those of the best head, and add the counts to an atlas."""
    parser = argparse.ArgumentParser(prog="python -m recipe.pronouns", description=__doc__)
    parser.add_argument("--sentences", type=Path, required=True)
    parser.add_argument(
        "--model", default="en-fr", help="the name of a shipped model, or a checkpoint folder"
    )
    parser.add_argument("--atlas", type=Path, default=ATLAS, help="the folder of its atlas")
    arguments = parser.parse_args()
    translator, data = load_translator(arguments.model), load(arguments.atlas, "atlas.json")
    if data["about"]["weights"] != digest_of(translator):
        parser.error(f"{arguments.atlas} is the atlas of another model.")
    with arguments.sentences.open(encoding="utf-8") as lines:
        result = linked(translator, read_references(lines))
    text = json.dumps(with_pronouns(data, result), ensure_ascii=False).encode("utf-8")
    packed = arguments.atlas / "atlas.json.gz"
    if packed.exists():
        write(packed, gzip.compress(text, 9, mtime=0))
    else:
        write(arguments.atlas / "atlas.json", text)
    layer, head = divmod(int(result.hits.argmax()), result.hits.shape[1])
    print(
        f"encoder layer {layer + 1}, head {head + 1} links a pronoun to its noun in "
        f"{result.hits.max()} of {result.sentences} sentences; chance: {result.chance:.1f}"
    )


if __name__ == "__main__":
    main()
