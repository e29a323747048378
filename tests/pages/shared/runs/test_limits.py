import pytest

from headlight.pages.shared.runs.limits import patterns, whole_number


def test_a_variable_that_is_not_set_is_at_its_default(monkeypatch):
    monkeypatch.delenv("HEADLIGHT_X", raising=False)
    assert whole_number("HEADLIGHT_X", 7) == 7
    monkeypatch.setenv("HEADLIGHT_X", " ")
    assert whole_number("HEADLIGHT_X", 7) == 7


def test_a_variable_is_read(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_X", " 12 ")
    assert whole_number("HEADLIGHT_X", 7) == 12


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5", "9" * 30, "٣"])
def test_what_is_no_number_is_told_with_the_variables_name(monkeypatch, text):
    monkeypatch.setenv("HEADLIGHT_X", text)
    with pytest.raises(ValueError, match=r"HEADLIGHT_X is .* from 1 to 1000000"):
        whole_number("HEADLIGHT_X", 7)


def test_a_list_of_patterns(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_X", " google-bert/*, /srv/models/* ,,gpt2")
    assert patterns("HEADLIGHT_X") == ("google-bert/*", "/srv/models/*", "gpt2")
    monkeypatch.delenv("HEADLIGHT_X")
    assert patterns("HEADLIGHT_X") == ()
    monkeypatch.setenv("HEADLIGHT_X", "~/models/*")
    with pytest.raises(ValueError, match="HEADLIGHT_X has '~/models"):
        patterns("HEADLIGHT_X")
