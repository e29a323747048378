from pages.parts.decoding.branches import MOST, Branch, Branches


def branch(number):
    return Branch((number,), 0, f"branch {number}")


def test_a_new_branch_is_shown_after_the_original():
    branches = Branches()
    branches.show(branch(1))
    assert branches.kept == [Branch(), branch(1)]
    assert branches.shown == branch(1)


def test_the_same_beginning_is_shown_again_and_kept_once():
    branches = Branches()
    for number in (1, 2, 1):
        branches.show(branch(number))
    assert branches.kept == [Branch(), branch(1), branch(2)]
    assert branches.shown == branch(1)


def test_the_oldest_branch_makes_room():
    branches = Branches()
    for number in range(MOST + 2):
        branches.show(branch(number))
    assert branches.kept == [Branch(), *map(branch, range(2, MOST + 2))]
    assert branches.shown == branch(MOST + 1)


def test_a_branch_that_is_removed_leaves_the_one_that_is_shown():
    branches = Branches()
    for number in (1, 2, 3):
        branches.show(branch(number))
    branches.remove(branch(1))
    assert branches.shown == branch(3)
    branches.remove(branch(3))
    assert branches.shown == Branch()
    assert branches.kept == [Branch(), branch(2)]
