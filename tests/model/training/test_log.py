import csv

import pytest

from headlight.model.training.resuming import COLUMNS, Log, read_rows

VALUES = dict.fromkeys(COLUMNS, 0)


def steps(path):
    with path.open(newline="", encoding="utf-8") as file:
        return [row["step"] for row in csv.DictReader(file)]


def test_it_forgets_rows_after_the_place_a_training_goes_on_at(tmp_path):
    path = tmp_path / "log.csv"
    log = Log(path, 0)
    for step in (3, 6, 9):
        log.write(**{**VALUES, "step": step})
    assert steps(path) == ["3", "6", "9"]
    Log(path, 6).write(**{**VALUES, "step": 8})
    assert steps(path) == ["3", "6", "8"]
    Log(path, 0).write(**{**VALUES, "step": 1})
    assert steps(path) == ["1"]


def test_it_counts_the_seconds_of_the_trainings_before(tmp_path):
    path = tmp_path / "log.csv"
    row = VALUES | {"step": 3, "seconds": 500}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerow(row)
    log = Log(path, 3)
    log.write(**{**row, "step": 4})
    assert 500 <= float(read_rows(path)[-1]["seconds"]) < 510


def test_wherever_its_last_row_was_cut_the_others_are_read(tmp_path):
    path = tmp_path / "log.csv"
    log = Log(path, 0)
    for step in (30, 60):
        log.write(**dict.fromkeys(COLUMNS, 1234) | {"step": step})
    whole = path.read_bytes()
    for end in range(1, 20):
        path.write_bytes(whole[:-end])
        assert [row["step"] for row in read_rows(path)] == ["30"], end


def test_a_log_that_cannot_be_written_stays_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "log.csv"
    log = Log(path, 0)
    log.write(**{**VALUES, "step": 3})
    before = path.read_bytes()

    def full(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(csv.DictWriter, "writerows", full)
    with pytest.raises(OSError, match="No space left"):
        log.write(**{**VALUES, "step": 6})
    assert path.read_bytes() == before
