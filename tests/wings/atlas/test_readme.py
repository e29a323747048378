"""What README.md says of the atlas holds."""

from pathlib import Path

from headlight.wings.atlas.page.figures import TITLES

README = Path(__file__).parents[3] / "README.md"


def test_it_counts_the_statistics_of_the_page():
    assert f"{len(TITLES)} statistics" in README.read_text(encoding="utf-8")
