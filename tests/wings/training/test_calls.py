import pytest

from headlight.wings.training.calls import answered

pytestmark = pytest.mark.usefixtures("one_session")


@pytest.mark.matrix
def test_a_model_is_asked_once_at_each_step_of_its_training(translator):
    first = answered("a run", 10, "I love my cat.", None, translator)
    assert first.text == translator.translate("I love my cat.").text
    assert answered("a run", 10, "I love my cat.", None, translator) is first
    for other in (("a run", 11), ("another run", 10)):
        assert answered(*other, "I love my cat.", None, translator) is not first
