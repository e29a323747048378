"""The pictures share a common base, and no family knows another, in Python and JavaScript."""

from pathlib import Path

from headlight.viz.modules import imports as imported

ROOT = Path(__file__).parents[2]
VIZ = ROOT / "viz"
PYTHON = sorted({*VIZ.rglob("*.py")} - {*VIZ.rglob("__init__.py")})
SCRIPTS = sorted(VIZ.rglob("*.js"))


def family_of(path):
    """The family that a file of viz is of; None for the ground."""
    inside = path.relative_to(VIZ)
    return inside.parts[0] if len(inside.parts) > 1 else None


def test_a_script_imports_the_ground_and_its_own_family():
    for path in SCRIPTS:
        for file in imported(path):
            assert family_of(file) in (None, family_of(path))


def test_a_picture_has_its_script_beside_it():
    for path in filter(family_of, PYTHON):
        if path.stem not in ("position_heatmap", "position_lines"):  # of Plotly and of Altair
            assert path.with_suffix(".js").exists()
