import pytest
from torch.testing import assert_close

from model.insight.anatomy import read_at
from model.insight.head_projections import separate_heads
from model.memory_layout import lay_out
from tests.model.insight.recording import SITES, record


@pytest.mark.parametrize("site", SITES, ids=str)
@pytest.mark.parametrize("change", [lambda model: model, lay_out], ids=["plain", "laid out"])
def test_heads_apart_compute_what_one_projection_does(make_model, site, change):
    model = change(make_model(seed=1))
    trace = record(model)
    separate, fused, difference = separate_heads(model, site, *read_at(trace, site))
    assert difference < 1e-5
    made = trace.attention[site]
    for name in ("query", "key", "value"):
        recorded = getattr(made, name)[0]
        assert_close(getattr(fused, name), recorded, atol=1e-6, rtol=0)
        assert_close(getattr(separate, name), recorded, atol=1e-5, rtol=0)
    layer = model.attention_at(site).query
    alone = read_at(trace, site)[0][0] @ layer.weight[4:8].detach().T + layer.bias[4:8].detach()
    assert_close(separate.query[1], alone, atol=1e-5, rtol=0)
