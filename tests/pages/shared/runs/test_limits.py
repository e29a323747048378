import pytest

from pages.shared.runs.limits import patterns, switch, whole_number


def test_a_variable_that_is_not_set_is_at_its_default(monkeypatch):
    monkeypatch.delenv("HEADLIGHT_X", raising=False)
    assert whole_number("HEADLIGHT_X", 7) == 7
    assert switch("HEADLIGHT_X", True) is True
    monkeypatch.setenv("HEADLIGHT_X", " ")
    assert whole_number("HEADLIGHT_X", 7) == 7


def test_a_variable_is_read(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_X", " 12 ")
    assert whole_number("HEADLIGHT_X", 7) == 12
    monkeypatch.setenv("HEADLIGHT_X", "OFF")
    assert switch("HEADLIGHT_X", True) is False


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5", "9" * 30, "٣"])
def test_what_is_no_number_is_told_with_the_variables_name(monkeypatch, text):
    monkeypatch.setenv("HEADLIGHT_X", text)
    with pytest.raises(ValueError, match=r"HEADLIGHT_X is .* at least 1"):
        whole_number("HEADLIGHT_X", 7)


def test_what_is_neither_on_nor_off_is_told(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_X", "maybe")
    with pytest.raises(ValueError, match="on or off"):
        switch("HEADLIGHT_X", True)


def test_a_list_of_patterns(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_X", " google-bert/*, /srv/models/* ,,gpt2")
    assert patterns("HEADLIGHT_X") == ("google-bert/*", "/srv/models/*", "gpt2")
    monkeypatch.delenv("HEADLIGHT_X")
    assert patterns("HEADLIGHT_X") == ()
    monkeypatch.setenv("HEADLIGHT_X", "~/models/*")
    with pytest.raises(ValueError, match="HEADLIGHT_X has '~/models"):
        patterns("HEADLIGHT_X")
