"""Count what every head does over a text: python -m headlight.wings.atlas --text FILE."""

import argparse
import sys
import time
from functools import partial, reduce
from pathlib import Path

from tqdm import tqdm

from headlight.model.corpus import digest, in_words, windows
from headlight.model.library.loading import load_model
from headlight.model.memory import keep_few_kernels
from headlight.model.reader import Reader
from headlight.wings.atlas.counting import Count, count_window, merge
from headlight.wings.atlas.engine_ray import counts_on_ray
from headlight.wings.atlas.files import COUNT, about_of, digest_of, load_count, save_count
from headlight.wings.atlas.looking import search
from headlight.wings.atlas.results import finish

WINDOW = 1_024  # lines


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's options."""
    parser = argparse.ArgumentParser(prog="python -m headlight.wings.atlas", description=__doc__)
    parser.add_argument(
        "--model",
        default="en-fr",
        help="a shipped model's name, a folder, or a name on the Hugging Face Hub",
    )
    parser.add_argument(
        "--text",
        type=Path,
        metavar="FILE",
        help="lines, or pairs with a tab between them, gzipped or not",
    )
    parser.add_argument("--output", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--part",
        default="1/1",
        metavar="I/N",
        help="count only part I of N; each part needs its own folder",
    )
    parser.add_argument(
        "--merge",
        type=Path,
        nargs="+",
        metavar="FOLDER",
        help="merge the counts in these folders into one",
    )
    parser.add_argument(
        "--effects",
        type=int,
        default=100,
        metavar="SENTENCES",
        help="on how many sentences to measure the removal of heads (0: none)",
    )
    parser.add_argument(
        "--search",
        metavar="TOKEN",
        help="print where heads look from this token, in the counted sentences that were kept",
    )
    parser.add_argument(
        "--engine",
        choices=("process", "ray"),
        default="process",
        help="count in this process (the default) or on Ray",
    )
    parser.add_argument(
        "--address", metavar="HOST:PORT", help="the Ray cluster (default: start one here)"
    )
    parser.add_argument(
        "--window", type=int, default=WINDOW, metavar="LINES", help="lines counted at once"
    )
    parser.add_argument(
        "--save-every", type=float, default=10, metavar="SECONDS",
        help="how often the count is saved, so that it can be continued",
    )  # fmt: skip
    return parser


def main() -> None:
    """Start or resume a count, or merge counts, or search a count."""
    options = make_parser().parse_args()
    keep_few_kernels()
    try:
        reader = load_model(options.model)
        if options.search:
            print_search(reader, load_count(options.output), options.search)
            return
        damage = None
        if options.merge:
            count = reduce(merge, map(load_count, options.merge))
            check_about(count, {"weights": digest_of(reader)}, options.merge[0])
            save_count(options.output, count)
        elif options.text is None:
            raise ValueError("Name a file to count with --text, or folders with --merge.")
        else:
            count, damage = counted(reader, options)
        if options.part == "1/1":
            finish(reader, count, options.output, options.effects)
        tell(count)
        sys.exit(damage)
    except OSError as error:
        sys.exit(unwritten(error, options.output))
    except ValueError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nStopped. What was counted is saved: the same command continues.")


def unwritten(error: OSError, folder: Path) -> str:
    """Return the sentence to print for an OSError.

    A system error gets advice; an error that this project raises has no errno, and its text is
    printed as it is.
    """
    if error.errno is None:
        return str(error)
    return (
        f"{error.filename or folder}: {error.strerror}. What was saved before is intact: solve "
        "this, and the same command continues."
    )


def counted(reader: Reader, options: argparse.Namespace) -> tuple[Count, str | None]:
    """Return the count of a text or of a part of it, continued if it was begun before.

    Also returns the first error in the file after the counted part, or None. Raises ValueError for
    a text with nothing to count or a folder with another count, and OSError if nothing can be
    written.
    """
    if not options.text.is_file():
        raise ValueError(f"{options.text} is no file: name one with lines of text.")
    if options.window < 1:
        raise ValueError("--window must be at least 1.")
    options.output.mkdir(parents=True, exist_ok=True)
    part, parts = part_of(options.part)
    about = about_of(reader, str(options.model), options.text.name, options.window)
    about["bytes"] = digest(options.text)
    count = Count(about)
    if (options.output / COUNT).exists():
        count = load_count(options.output)
        check_about(count, about, options.output)
    done = {*count.windows}
    left = partial(
        windows,
        options.text.resolve(),
        options.window,
        lambda number: number not in done and number % parts == part - 1,
    )
    if options.engine == "ray":
        counts = counts_on_ray(left, options.model, about, options.address)
    else:
        counts = ((window.at, count_window(reader, window, about)) for window in left())
    saved, bar, damage = time.monotonic(), None, None
    try:
        for at, more in counts:
            count = merge(count, more)
            if bar is None:  # the speed shown does not count windows of an earlier run
                sizes = {"total": options.text.stat().st_size, "initial": at}
                bar = tqdm(**sizes, unit="B", unit_scale=True, desc="counting")
            bar.update(max(0, at - bar.n))
            if time.monotonic() - saved > options.save_every:
                save_count(options.output, count)
                saved = time.monotonic()
    except ValueError as error:  # the file is damaged after these windows
        damage = str(error)
    finally:
        if bar is not None:
            bar.close()
        if {*count.windows} - done:
            save_count(options.output, count)
    if not count.sentences and parts == 1:
        raise ValueError(damage or nothing_in(options.text, count))
    return count, damage


def part_of(text: str) -> tuple[int, int]:
    """Return the part and the number of parts in "2/4"; raises ValueError for anything else."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise ValueError(f"A part is written like 2/4, not {text}.")
    return int(part), int(parts)


def nothing_in(path: Path, count: Count) -> str:
    """Return a sentence that says why a file has nothing to count."""
    became = in_words(count.lines)
    return f"{path} has no line of text to count{f' ({became})' if became else ', as it is empty'}."


def check_about(count: Count, about: dict[str, object], folder: Path) -> None:
    """Raise ValueError if a folder's count is of another model or text."""
    if other := [name for name in about if count.about.get(name) != about[name]]:
        raise ValueError(
            f"{folder} holds a count that differs in {' and '.join(other)}. Choose another "
            "--output, or delete it."
        )


def tell(count: Count) -> None:
    """Print the number of counted sentences, and how many lines were cut or left out, and why."""
    print(f"{count.sentences} sentences counted")
    if became := in_words(count.lines):
        print(f"  {became}")


def print_search(reader: Reader, count: Count, word: str) -> None:
    """Print the 20 heads that look most clearly from a token, and the keys that they look at."""
    looked, lines = search(reader, count.sampled, word)
    print(f"From “{word}” in {len(lines)} sentences, with the mean of the largest weight:")
    for match in looked[:20]:
        keys = ", ".join(f"“{key}” {share:.0%}" for key, share in match.keys)
        address = f"{match.kind} {match.layer + 1}.{match.head + 1}"
        print(f"  {address:<13} {match.weight:.2f} at {match.places} places, on {keys}")


if __name__ == "__main__":
    main()
