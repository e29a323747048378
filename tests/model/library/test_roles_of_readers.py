import pytest

from headlight.model.insight.roles import ROLES, role_scores, why_not
from tests.model.library.conftest import FOLDERS


def check_scores(reader):
    result = role_scores(reader)
    half = len(result.read) // 2
    assert result.read[:half]
    for role in ROLES:
        assert (role in result.scores) != bool(why_not(reader, role))
    for role, kinds in result.scores.items():
        assert set(kinds) == set(ROLES[role].kinds) & set(reader.shape.kinds)
        for kind, scores in kinds.items():
            assert tuple(scores.shape) == reader.shape.kinds[kind]
            assert ((scores >= 0) & (scores <= 1)).all()
    return result.scores


@pytest.mark.parametrize("name", FOLDERS)
def test_of_every_model_there_are_scores_or_a_reason(name, load):
    check_scores(load(name))


def test_what_does_not_apply_to_a_bert_is_said(bert):
    assert set(check_scores(bert)) == {"previous", "duplicate"}
    assert "predicts the next token" in why_not(bert, "induction")
    assert "never become logits" in why_not(bert, "copying")


def test_a_decoder_is_tested_for_every_role(load):
    assert set(check_scores(load("GPT-2"))) == set(ROLES)
