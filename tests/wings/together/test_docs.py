"""What the documentation shows in Python with wings runs."""

import pytest

from tests.model.library.conftest import transformers_folders
from tests.test_docs import WITH_WINGS, run_blocks

__all__ = ["transformers_folders"]


@pytest.mark.parametrize("page", sorted(WITH_WINGS))
def test_blocks_of_code_run_one_after_the_other(page, make_bert_folder, transformers_folders):
    run_blocks(page, make_bert_folder, transformers_folders)
