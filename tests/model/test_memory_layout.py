import pytest
import torch

from headlight.model.linear import HALVES, PackedLinear
from headlight.model.memory_layout import best_device, dtype_on, lay_out, pack
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run

SOURCES = torch.tensor([[4, 5, 6, 7, 3], [10, 11, 3, 0, 0]])


@pytest.mark.parametrize("tie_embeddings", [True, False])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("more", [lambda model: model, pack], ids=["laid out", "packed too"])
def test_the_layout_changes_no_number(tie_embeddings, rows, length, more, make_model):
    options = {"seed": 2, "tie_embeddings": tie_embeddings}
    plain, laid_out = (make_model(**options).half().float() for _ in range(2))
    laid_out = more(lay_out(laid_out))
    sources = SOURCES[:rows]
    targets = torch.tensor([[2, 14, 15, 16], [2, 13, 12, 11]])[:rows, :length]
    before, after = Trace(), Trace()
    with torch.inference_mode():
        expected = plain(sources, targets, Run(trace=before))
        result = laid_out(sources, targets, Run(trace=after))
    torch.testing.assert_close(result, expected, atol=1e-5, rtol=0)
    for site, record in before.attention.items():
        torch.testing.assert_close(after.attention[site].weights, record.weights, atol=1e-5, rtol=0)


def test_the_weights_lie_by_columns_and_the_embedding_by_rows(make_model):
    model = lay_out(make_model())
    assert model.output.weight.stride() == (1, 20)
    assert model.decoder.layers[0].feed_forward.inner.weight.stride() == (1, 32)
    assert model.encoder.embedding.tokens.weight.is_contiguous()
    assert model.device == torch.device("cpu")


def test_a_packed_model_keeps_the_same_parts_in_its_files(make_model):
    model = lay_out(make_model().half().float())
    before = set(model.state_dict())
    assert set(pack(model).state_dict()) == before
    assert isinstance(model.output, PackedLinear) == HALVES


@pytest.mark.parametrize("expected", ["cuda", "mps", "cpu"])
def test_a_gpu_is_used_if_there_is_one(expected, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: expected == "cuda")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: expected != "cpu")
    assert best_device() == torch.device(expected)


def test_weights_in_half_precision_stay_so_where_they_are_computed_well(monkeypatch):
    for dtype in (torch.float16, torch.bfloat16):
        assert dtype_on(torch.device("meta"), dtype) == dtype
        assert dtype_on(torch.device("mps"), dtype) == dtype
        assert dtype_on(torch.device("cpu"), dtype) == torch.float32
    assert dtype_on(torch.device("meta"), torch.float64) == torch.float32
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    assert dtype_on(torch.device("cuda"), torch.bfloat16) == torch.float32
    assert dtype_on(torch.device("cuda"), torch.float16) == torch.float16
