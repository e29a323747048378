import pytest
import torch

from model.device import best_device


@pytest.mark.parametrize(("has_gpu", "expected"), [(True, "cuda"), (False, "cpu")])
def test_a_gpu_is_used_if_there_is_one(has_gpu, expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    assert best_device() == torch.device(expected)
