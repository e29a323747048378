import pytest

from headlight.model.translator import load
from headlight.pages.parts.decoding.request import BRANCH, MOST, Branch, Branches

SHAPE = load("en-fr").shape


def branch(number):
    return Branch((number,), 0, f"branch {number}")


def test_a_new_branch_is_kept_after_the_original():
    branches = Branches()
    branches.keep(branch(1))
    assert branches.kept == [Branch(), branch(1)]


def test_the_same_beginning_is_kept_once():
    branches = Branches()
    for number in (1, 2, 1):
        branches.keep(branch(number))
    assert branches.kept == [Branch(), branch(1), branch(2)]


def test_the_oldest_branch_makes_room():
    branches = Branches()
    for number in range(MOST + 2):
        branches.keep(branch(number))
    assert branches.kept == [Branch(), *map(branch, range(2, MOST + 2))]


def test_a_link_holds_what_was_forced_where_and_its_text():
    for text in ("J'aime", "x: y\n", "漢", ""):
        made = Branch((7, 40, 12), 1, text)
        read = BRANCH.read(BRANCH.write(made), SHAPE)
        assert (read.forced, read.step, read.text) == ((7, 40, 12), 1, text)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "1",
        "1:",
        "1:2",
        "0:4:x",
        "2:4:x",
        "１:4:x",
        ":2:x",
        "1:-2:x",
        "1:2.:x",
        "3:1.2:x",
        "1:2:" + "x" * 121,
    ],
)
def test_what_is_no_branch_is_refused(written):
    with pytest.raises(ValueError, match="is not a branch"):
        BRANCH.read(written, SHAPE)
