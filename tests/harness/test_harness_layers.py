import pytest

from launchlens.errors import HarnessError
from launchlens.harness.models import build_model
from launchlens.harness.presets import list_presets
from launchlens.protocol.spec import HarnessSpec

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")


pytestmark = pytest.mark.torch


def build(model, **changes):
    return build_model(HarnessSpec(model=model, result_path="r", **changes), "meta", "bfloat16")


@pytest.fixture(autouse=True)
def _default_dtype():
    import torch

    before = torch.get_default_dtype()
    yield
    torch.set_default_dtype(before)


@pytest.mark.parametrize("preset", list_presets(), ids=lambda preset: preset.name)
def test_every_preset_has_its_published_size(preset):
    built = build(preset.name)
    assert built.facts.parameters / 1e9 == pytest.approx(preset.text_params_billion, abs=0.006)
    assert built.facts.layers == preset.layers
    assert built.facts.layers_note is None


@pytest.mark.parametrize("layers", [1, 2, 6, 12])
@pytest.mark.parametrize(
    "name", ["gemma-3n-E4B", "gemma-3n-E2B", "gemma-4-E4B", "qwen3-0.6b", "gpt2"]
)
def test_a_shortened_model_still_runs(name, layers):
    import torch

    built = build(name, layers=layers)
    note = built.facts.layers_note
    assert built.facts.layers == layers
    if layers == 12 and name == "gpt2":
        assert note is None
    else:
        assert note.startswith(f"Shortened to {layers} of ")
        assert note not in built.notes, "said once, in its own field"
    tokens = torch.ones(1, 4, dtype=torch.long, device="meta")
    positions = torch.ones(1, 1, 4, 4, dtype=torch.bool, device="meta")
    mask = (
        {"full_attention": positions, "sliding_attention": positions}
        if name.startswith("gemma")
        else positions
    )
    logits = built.module(input_ids=tokens, attention_mask=mask, use_cache=False).logits
    assert logits.shape[:2] == (1, 4)


def test_lists_with_an_entry_for_each_layer_are_cut_too():
    config = build("gemma-3n-E4B", layers=6).module.config
    assert config.layer_types == ["sliding_attention"] * 4 + ["full_attention", "sliding_attention"]
    assert len(config.intermediate_size) == 6
    assert config.activation_sparsity_pattern == [0.95] * 6
    assert (
        config.num_kv_shared_layers == 1
    )  # Of 35 layers 15 share; one can, with its own type before.


def test_more_layers_than_there_are_is_refused():
    with pytest.raises(HarnessError, match="12 layers, not 13"):
        build("gpt2", layers=13)


def test_the_digest_is_the_configurations():
    assert build("gpt2").facts.config_digest == build("openai-community/gpt2").facts.config_digest
    assert build("gpt2").facts.config_digest != build("gpt2", layers=2).facts.config_digest
