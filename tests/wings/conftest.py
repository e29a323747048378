"""The fixtures of the tests of models and pages, for wings that have both."""

from tests.model.insight.conftest import model, reader, trace
from tests.model.library.conftest import (
    attached,
    load,
    mixed_folder,
    one_thread,
    transformers_folders,
)
from tests.pages.conftest import state
from tests.pages.shared.runs.conftest import loaded, one_session

__all__ = [
    "attached",
    "load",
    "loaded",
    "mixed_folder",
    "model",
    "one_session",
    "one_thread",
    "reader",
    "state",
    "trace",
    "transformers_folders",
]
