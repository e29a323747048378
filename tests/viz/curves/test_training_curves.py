from headlight.viz import training_curves
from tests.viz.unpacking import unpack

FIRST = {"loss": ([1, 2, 3], [3.0, 2.0, 1.5]), "exact": ([3], [0.25])}
SECOND = {"loss": ([1, 2], [2.5, 1.0]), "exact": ([], [])}


def test_every_number_travels_with_its_step():
    header, numbers = unpack(training_curves({"run 1": FIRST, "run 2": SECOND}), "<f4")
    at, drawn = 0, {}
    for line in header["lines"]:
        steps, values = numbers[at:][: 2 * line["count"]].reshape(2, -1)
        at += 2 * line["count"]
        key = header["runs"][line["run"]], header["panels"][line["panel"]]["title"]
        drawn[key] = (steps.tolist(), values.tolist())
    assert at == len(numbers)
    assert drawn == {
        (run, title): line
        for run, lines in {"run 1": FIRST, "run 2": SECOND}.items()
        for title, line in lines.items()
    }


def test_the_horizontal_axis_is_named_in_the_picture_and_in_its_numbers():
    picture = training_curves({"run": FIRST}, axis="heads removed")
    assert unpack(picture, "<f4")[0]["axis"] == "heads removed"
    assert all({*table.axes} == {"heads removed"} for table in picture.numbers.values())
