"""Decode steps with the static cache, against a plain forward call over the whole text."""

import json

import pytest

from launchlens.harness.session import open_session
from launchlens.harness.steps import collect_outputs
from launchlens.protocol.spec import HarnessSpec

torch = pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")

pytestmark = pytest.mark.torch
GEMMA3 = {
    "model_type": "gemma3_text",
    "vocab_size": 128,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "sliding_window": 512,
}


@pytest.mark.parametrize(
    ("window", "all_static"),
    [(512, True), (9, False), (6, False)],
    ids=["window longer than the text", "filled while decoding", "filled by the prefill"],
)
def test_decode_steps_continue_the_prefill(tmp_path, window, all_static):
    from launchlens.harness.models import build_model

    (tmp_path / "config.json").write_text(json.dumps(GEMMA3 | {"sliding_window": window}))
    spec = HarnessSpec(
        model=str(tmp_path), result_path="r", isl=8, osl=4, batch=2, dtype="float32", device="cpu"
    )
    with torch.no_grad():
        model = build_model(spec, "cpu", "float32").module
        session = open_session(spec, model, "cpu")
        assert session.inputs.all_static is all_static
        collect_outputs(session, "float32")  # A second round must not remember the first.
        outputs = collect_outputs(session, "float32")
        prompt = session.inputs.prefill["input_ids"]
        text = torch.cat([prompt, session.inputs.forced_tokens.T], dim=1)
        logits = model(input_ids=text, use_cache=False).logits.numpy()
    assert outputs["float32.prefill"] == pytest.approx(logits[:, 7], abs=1e-4)
    for index in range(3):
        assert outputs["float32.decode"][index] == pytest.approx(logits[:, 8 + index], abs=1e-4)


def test_the_same_seed_gives_the_same_tokens(tiny_model):
    from launchlens.harness.inputs import make_inputs
    from launchlens.harness.models import build_model

    spec = HarnessSpec(model=str(tiny_model), result_path="r", isl=8, osl=3, dtype="float32")
    model = build_model(spec, "cpu", "float32").module
    first, second = (make_inputs(spec, model, "cpu") for _ in range(2))
    assert torch.equal(first.prefill["input_ids"], second.prefill["input_ids"])
    assert torch.equal(first.forced_tokens, second.forced_tokens)
    assert first.prefill["input_ids"].shape == (1, 8)
    assert first.forced_tokens.shape == (2, 1)
