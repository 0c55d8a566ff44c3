"""A model preset is an entry of harness/models.json: `models` and `profile` then know its name."""

from __future__ import annotations

import json

import pytest

PRESET = {
    "hub_id": "acme/tiny-llama",
    "left_out": "speech part",
    "text_params_billion": 0.001,
    "config_class": "LlamaConfig",
    "config": {
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 3,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
    },
}


@pytest.fixture
def with_preset(house):
    file = house.root / "launchlens/harness/models.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"tiny-llama": PRESET}))
    return house


def test_it_is_listed_and_offered(with_preset):
    assert "tiny-llama" in with_preset.run("models")
    listed = json.loads(with_preset.run("models", "-f", "json"))
    (entry,) = [m for m in listed["models"] if m["name"] == "tiny-llama"]
    assert (entry["hub_id"], entry["layers"]) == ("acme/tiny-llama", 3)
    said = with_preset.fails("profile", "-m", "tiny-lama", "--device", "cpu", code=1)
    assert "Did you mean tiny-llama" in said


@pytest.mark.torch
def test_the_harness_builds_it(with_preset):
    pytest.importorskip("torch", reason="needs torch")
    pytest.importorskip("transformers", reason="needs transformers")
    result = with_preset.work / "eager.json"
    spec = {
        "model": "tiny-llama-it", "variant": "eager", "device": "cpu", "dtype": "float32",
        "isl": 8, "steps": 2, "warmup": 1, "result_path": str(result),
    }  # fmt: skip
    file = with_preset.write("spec.json", spec)
    done = with_preset.python("-m", "launchlens.harness", file)
    assert done.returncode == 0, done.stderr
    said = json.loads(result.read_text())
    assert said["status"] == "ok", said
    assert said["model"]["layers"] == 3
    assert "without its speech part" in json.dumps(said)
