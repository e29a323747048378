"""Cases that repeat a thing: the first runs with `make test`, the others with `make test-all`."""

import pytest


def first_of(cases, first=1):
    """Mark all cases but the first ones as `matrix`."""
    cases = list(cases)
    rest = [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.matrix)
        for case in cases[first:]
    ]
    return [*cases[:first], *rest]
