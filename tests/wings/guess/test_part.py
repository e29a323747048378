from headlight.wings.guess.part import question
from tests.viz.unpacking import unpack


def test_a_question_has_its_options_and_no_answer():
    header, body = unpack(question("<b>?", [("cat", "“cat”")], [("Encoder", 1, 1)]))
    assert header["options"] == [{"text": "cat", "label": "“cat”"}]
    assert header["boards"] == [{"label": "Encoder", "layers": 1, "heads": 1}]
    assert (header["asks"], header["said"], body) == ("<b>?", "", b"")
