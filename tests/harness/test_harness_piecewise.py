"""The cut at attention, on the CPU, where the pieces run without being captured."""

import pytest

from launchlens.harness.inputs import make_inputs
from launchlens.harness.models import build_model
from launchlens.harness.variants.base import Context
from launchlens.harness.variants.piecewise import Piecewise
from launchlens.protocol.spec import HarnessSpec

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")


pytestmark = pytest.mark.torch


@pytest.fixture(autouse=True)
def _torch_state():
    with torch.no_grad():
        yield
    torch.compiler.reset()


def test_the_graph_is_cut_at_each_layers_attention_and_computes_the_same(tiny_model):
    spec = HarnessSpec(model=str(tiny_model), result_path="r", isl=8, osl=3, dtype="float32")
    model = build_model(spec, "cpu", "float32").module
    inputs = make_inputs(spec, model, "cpu")
    prefill = model(**inputs.prefill).logits.clone()
    decode = model(**inputs.decode).logits.clone()
    for phase, arguments, expected in (
        ("prefill", inputs.prefill, prefill),
        ("decode", inputs.decode, decode),
    ):
        start = inputs.start_of(phase)
        context = Context(phase, "cpu", lambda start=start: inputs.rewind(start))
        context.reset()
        prepared = Piecewise().prepare(model, arguments, context)
        # Two layers: two attention calls with three pieces around them.
        assert prepared.pieces == {"graphs": 3, "eager": 2}
        context.reset()
        torch.testing.assert_close(prepared.step(), expected, rtol=0, atol=1e-6)
