"""What the first page loads; who may import whom is checked by `make lint`."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LATER = {"altair", "lxml", "pandas", "pptx", "pydantic", "sacrebleu", "transformers"}


def test_the_first_page_waits_for_no_package_that_it_does_not_use():
    """Python itself says what was loaded, by way of others too."""
    code = "import sys; import headlight.pages.parts.pages; print(*sys.modules)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    loaded = {*done.stdout.split()}
    assert "torch" in loaded
    assert not LATER & loaded
    assert not {"model", "viz", "pages"} & loaded  # second copies of what headlight holds
