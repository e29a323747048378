"""Files that stay as they were until they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a file beside `path` to write to, which takes its place when all of it is on the disk.

    Raises OSError with a sentence, and leaves `path` as it was, if it cannot be written.
    """
    unfinished = path.with_name(path.name + ".part")
    try:
        yield unfinished
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except Exception as error:  # of the system, or of a library that wraps it
        why = getattr(error, "strerror", None) or str(error)
        raise OSError(f"{path} could not be written, and is as it was: {why}.") from error
    finally:
        unfinished.unlink(missing_ok=True)
