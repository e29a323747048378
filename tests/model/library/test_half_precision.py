"""Weights in half precision stay as they are, and everything is shown in float32."""

import pytest
import torch
import transformers
from torch.testing import assert_close

from headlight.model.edits.attention import AttentionEdit
from headlight.model.insight.anatomy import Weight
from headlight.model.insight.attribution import attribute
from headlight.model.insight.estimate import estimated_removals
from headlight.model.insight.explain import explain
from headlight.model.insight.lens import lens
from headlight.model.insight.roles import role_scores
from headlight.model.library import transformers_loading
from headlight.model.library.files import saved_dtype
from headlight.model.library.measuring import BOUNDS
from headlight.model.library.transformers_loading import load_transformers_reader
from headlight.model.trace import Trace
from headlight.model.transformer.trace import Run, Site
from tests.matrix import first_of
from tests.model.insight.recording import Recorded

TEXT = "I love my cat."
CASES = [(name, torch.bfloat16) for name in ("Llama", "GPT-2", "T5")]
CASES.append(("Llama", torch.float16))


@pytest.fixture(scope="module")
def load_half(transformers_folders, tmp_path_factory):
    """A function from a tiny model and a dtype to its reader, on a device that computes in it."""
    loaded = {}

    def get(name, dtype):
        if (name, dtype) not in loaded:
            folder = tmp_path_factory.mktemp("half")
            whole = transformers_folders[name]
            kind = transformers.AutoConfig.from_pretrained(whole).architectures[0]
            getattr(transformers, kind).from_pretrained(whole, dtype=dtype).save_pretrained(folder)
            transformers.AutoTokenizer.from_pretrained(whole).save_pretrained(folder)
            assert saved_dtype(folder) == dtype
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(transformers_loading, "dtype_on", lambda _, saved: saved)
                loaded[name, dtype] = load_transformers_reader(folder)
        return loaded[name, dtype]

    return get


@pytest.mark.parametrize(("name", "dtype"), first_of(CASES))
def test_loaded_weights_have_the_dtype_of_the_file_and_numbers_are_float32(name, dtype, load_half):
    reader = load_half(name, dtype)
    assert {weight.dtype for weight in reader.model.parameters()} == {dtype}
    assert max(reader.parity()) <= BOUNDS[dtype].same
    trace = reader.trace(TEXT)
    shown = [trace.logits, *trace.outputs.values()]
    for record in trace.attention.values():
        shown += [part for part in vars(record).values() if isinstance(part, torch.Tensor)]
    assert {part.dtype for part in shown} == {torch.float32}


@pytest.mark.parametrize(("name", "dtype"), first_of(CASES))
def test_what_is_shown_is_that_of_float32_except_for_rounding(name, dtype, load_half, load):
    half, whole = load_half(name, dtype), load(name)
    assert half.missing.keys() == whole.missing.keys()
    target = whole.write(TEXT).writing if "cross" in whole.shape.kinds else None
    ours, theirs = half.trace(TEXT, target), whole.trace(TEXT, target)
    kind = "cross" if target else "decoder"
    assert_close(ours.weights(kind), theirs.weights(kind), atol=0.1, rtol=0)
    gate = torch.zeros(whole.shape.heads(kind))
    edits = {Site(kind, 0): AttentionEdit(gate=gate)}
    rows = half.rerun(ours, Run(edits, Trace()))
    assert_close(rows, whole.rerun(theirs, Run(edits, Trace())), atol=0.3, rtol=0.1)
    ours, theirs = half.streamed(ours, {}), whole.streamed(theirs, {})
    probabilities = lens(half, ours).probabilities
    assert_close(probabilities, lens(whole, theirs).probabilities, atol=0.1, rtol=0)
    found = attribute(half, ours, 0, 5, 6)
    assert found.total == pytest.approx(found.difference, abs=0.2)
    assert half.write(TEXT, longest=4).writing.target_tokens


@pytest.mark.parametrize(("name", "dtype"), first_of(CASES))
def test_every_analysis_takes_half_precision(name, dtype, load_half):
    reader = load_half(name, dtype)
    clean = reader.trace(TEXT, "J'aime mon chat." if "cross" in reader.shape.kinds else None)
    site = Site("decoder", 0)
    results = [*estimated_removals(reader, clean).values()]
    weight = Weight(Recorded(reader, reader.streamed(clean, {}), {}), site, 0, 2, 1)
    views = explain(weight, reader.objective(clean, site, 2))
    results += [views.weights, views.removals, views.gradient_times_attention]
    results += [part for kinds in role_scores(reader).scores.values() for part in kinds.values()]
    assert all(part.isfinite().all() for part in results)
