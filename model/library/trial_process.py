"""A process in which one model is tried before a server takes it: `python -m` this file.

It imports what models need, then waits for a line of JSON, see `Request` in trial.py, and answers
with one: why the model is refused, or null. Whatever a model breaks is this process alone, whose
memory, time and files are limited.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import torch
from torch import nn

from model.library.files import check_files
from model.library.guard import TokenizerError, are_numbers, check_numbers
from model.library.hub import LoadingError, first_line
from model.library.loading import load_from_library
from model.library.memory_needed import check_memory, memory_of
from model.library.transformers_loading import SHORT_TEXT
from model.library.trial import Request
from model.reader import Reader

MEGABYTE = 1_000_000
TIMES = 2  # the memory of a model's weights that its loading may take
BESIDES = 1_500 * MEGABYTE  # and what it may take for anything else
IDLE_SECONDS = 300  # it waits for a model, and then ends
READING_BYTES = 500 * MEGABYTE  # that reading one text may take besides the model
SLOWEST_READING = 5.0  # seconds of one text, of which a page reads several
WRITTEN_BYTES = 8 * MEGABYTE  # of any file
# What tokenizers stumble over: said once each, and then again and again up to the limit.
ODD_TEXTS = (
    SHORT_TEXT + " ", "a", ".", " x", "\n\t", "0123456789", "A-b_c/", "(){}[]<>\"'`", "ß\u0301é",
    "नमस्ते ", "你好世界", "שלום ", "👩🏽\u200d🚀", "\u200b\u2028\u00a0", "\x00\x1b",
    "ﷺ", "[MASK] </s><|endoftext|>",
)  # fmt: skip


def main() -> None:
    """Try the model of the request that comes, and answer."""
    answer = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    prepare()
    wait_at_most(IDLE_SECONDS)
    line = sys.stdin.readline()
    if not line:
        return
    why = tried(Request(**json.loads(line)))
    os.write(answer, json.dumps(why).encode())
    os._exit(0)  # without the second that letting go of everything takes


def prepare() -> None:
    """Import what most models need, and give up what none does."""
    from transformers import AutoModel, AutoTokenizer, GenerationMixin, PreTrainedModel
    from transformers.models.bert import modeling_bert

    del AutoModel, AutoTokenizer, GenerationMixin, PreTrainedModel, modeling_bert
    torch.set_num_threads(1)
    with suppress(OSError):  # if the computer runs out of memory, this process goes first
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")


def tried(request: Request) -> str | None:
    """Return why a model is not taken, in one sentence, or None."""
    wait_at_most(request.seconds + 5)
    limit("RLIMIT_CPU", request.seconds + 5)
    limit("RLIMIT_FSIZE", WRITTEN_BYTES)
    limit("RLIMIT_CORE", 0)
    limit_memory(BESIDES)
    try:
        try_model(request)
    except MemoryError:
        return f"{request.name} needs more memory than other models of its size. Choose another."
    except LoadingError as error:
        return str(error)
    except ValueError as error:
        return f"{request.name} could not read every text that it was tried with. {error}"
    except BaseException as error:  # a panic of Rust's is no Exception
        return f"{request.name} cannot be loaded: {first_line(error)} Choose another model."
    return None


def try_model(request: Request) -> None:
    """Load a model, and have it read, and write if it does; raises what stands in its way."""
    numbers = check_files(Path(request.folder), request.name)
    check_memory(numbers, request.name, torch.device("cpu"))
    limit_memory(TIMES * memory_of(numbers) + BESIDES)
    reader = load_from_library(request.folder)
    check_weights(reader.model)
    limit_memory(READING_BYTES)
    check_tokenizer(reader, request.longest)
    check_numbers(reader.trace(SHORT_TEXT, *written(reader)))


def check_weights(model: nn.Module) -> None:
    """Raise LoadingError if a weight of a model is infinite or not a number."""
    for name, weight in model.named_parameters():
        if weight.is_floating_point() and not are_numbers(weight):
            raise LoadingError(
                f"Weights of this model are infinite or not a number, such as {name}. Download or "
                "save it again, or choose another model."
            )


def check_tokenizer(reader: Reader, longest: int) -> None:
    """Raise LoadingError if a model's tokenizer is slow, or cannot read what people may type.

    The process ends if it asks for too much memory.
    """
    for odd in ODD_TEXTS:
        for text in (odd, (odd * longest)[:longest]):
            begun = time.monotonic()
            read(reader, text)
            if time.monotonic() - begun > SLOWEST_READING:
                raise LoadingError(
                    "The tokenizer of this model takes too long over a text. Choose another model."
                )


def read(reader: Reader, text: str) -> None:
    """Have a text read in all the ways that pages do; raises TokenizerError if one fails."""
    try:
        reader.is_cut(text)
        if "read a pair" not in reader.missing:
            reader.is_cut(text, text)
        if "write" not in reader.missing:
            reader.begin(text)
            reader.writer.prompt(text)
    except TokenizerError:
        raise
    except ValueError:  # there is nothing to read, or the chat template does not take it
        pass


def written(reader: Reader) -> list:
    """Return what a model writes first for a short text, if it does."""
    if "write" in reader.missing:
        return []
    return [reader.write(SHORT_TEXT, longest=2).writing]


def limit(name: str, most: int) -> None:
    """Limit something of this process, where the system can."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource

        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most, hard))


def limit_memory(more: int) -> None:
    """Let this process take so many bytes more than it has now."""
    with suppress(OSError, StopIteration):
        status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        line = next(line for line in status if line.startswith("VmData:"))
        limit("RLIMIT_DATA", int(line.split()[1]) * 1024 + more)


def wait_at_most(seconds: int) -> None:
    """End this process if it is still there then, even if nobody watches it."""
    with suppress(AttributeError):  # Windows has no such call
        signal.alarm(seconds)


if __name__ == "__main__":
    main()
