import pytest

from model.replacing import replacing


def test_a_file_takes_its_place_when_it_is_whole(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("before")
    with replacing(path) as unfinished:
        unfinished.write_text("after")
        assert path.read_text() == "before"
        assert unfinished.parent == path.parent
    assert path.read_text() == "after"
    assert [one.name for one in tmp_path.iterdir()] == ["log.csv"]


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (RuntimeError("the library gave up"), "the library gave up"),
    ],
)
def test_what_goes_wrong_is_a_sentence_and_leaves_the_file_as_it_was(error, why, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("before")

    def write():
        with replacing(path) as unfinished:
            unfinished.write_text("half")
            raise error

    with pytest.raises(OSError, match=rf"log.csv could not be written, and is as it was: {why}\.$"):
        write()
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["log.csv"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with (
        pytest.raises(OSError, match="could not be written"),
        replacing(tmp_path / "no" / "log.csv") as unfinished,
    ):
        unfinished.write_text("after")
