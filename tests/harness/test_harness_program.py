"""The harness as a real child process on the CPU, with a two-layer model."""

import json

import numpy as np
import pytest
from tiny_model import make_checkpoint

from launchlens.harness.equivalence import compare_outputs

pytest.importorskip("torch", reason="needs torch")
pytest.importorskip("transformers", reason="needs transformers")


pytestmark = pytest.mark.torch


def test_eager_is_timed_and_its_outputs_saved(tiny_model, run_harness, tmp_path):
    process, result = run_harness(
        model=str(tiny_model),
        osl=4,
        concurrency=[1, 2],
        outputs_path=str(tmp_path / "a.npz"),
        equivalence_dtypes=["bfloat16"],
    )
    assert process.returncode == 0, process.stderr
    assert (result["schema"], result["status"]) == ("launchlens.harness/1", "ok")
    # 20 rounds at least, whatever was asked for; three decode steps follow each prefill.
    assert len(result["steps"]["prefill"]["samples_ns"]) == 20
    assert len(result["steps"]["decode"]["samples_ns"]) == 60
    assert all(isinstance(ns, int) and ns > 0 for ns in result["steps"]["decode"]["samples_ns"])
    assert result["captured"] == {"prefill": "eager", "decode": "eager"}
    # Embeddings 128*64, tied; per layer: q 64*64, k and v 64*32, o 64*64, mlp 3*64*96, norms.
    layer = 64 * 64 * 2 + 64 * 32 * 2 + 3 * 64 * 96 + 2 * 64 + 2 * 16
    assert result["model"]["parameters"] == 128 * 64 + 2 * layer + 64
    assert result["outputs"]["finite"] == {"float32": True, "bfloat16": True}
    assert result["environment"]["gpu"] is None
    assert result["peak_memory_bytes"] is None
    first, second = result["requests"]
    assert (first["concurrency"], second["concurrency"]) == (1, 2)
    assert len(second["samples"]["ttft_ns"]) >= 10
    assert second["ttft_ns"] < second["latency_ns"]
    assert second["tokens_per_s"] == pytest.approx(4 * second["requests_per_s"])


def test_the_same_seed_gives_the_same_outputs_in_another_process(tiny_model, run_harness, tmp_path):
    for name in ("a", "b"):
        run_harness(model=str(tiny_model), osl=3, outputs_path=str(tmp_path / f"{name}.npz"))
    rows = compare_outputs(tmp_path / "a.npz", tmp_path / "b.npz")
    assert [(row.dtype, row.phase, row.identical) for row in rows] == [
        ("float32", "prefill", True),
        ("float32", "decode", True),
    ]


def test_a_checkpoint_brings_its_own_weights(run_harness, tmp_path):
    make_checkpoint(tmp_path, tmp_path / "checkpoint")
    process, result = run_harness(
        model=str(tmp_path / "checkpoint"), weights="pretrained", osl=3,
        outputs_path=str(tmp_path / "outputs.npz"),
    )  # fmt: skip
    assert process.returncode == 0, process.stderr
    assert result["model"]["weights"] == "pretrained"
    with np.load(tmp_path / "outputs.npz") as outputs:
        assert len(outputs.files) == 2
        for name in outputs.files:
            logits = outputs[name].reshape(-1, 128)
            # The last norm divides by the root of 1 + 1e-6.
            assert logits == pytest.approx(np.tile(np.arange(128.0), (len(logits), 1)), rel=1e-5)


def test_a_hub_id_is_read_from_the_hubs_cache(run_harness, tmp_path, monkeypatch):
    snapshot = tmp_path / "hub" / "models--owner--tiny" / "snapshots" / ("a" * 40)
    make_checkpoint(tmp_path, snapshot)
    references = snapshot.parents[1] / "refs"
    references.mkdir()
    (references / "main").write_text(snapshot.name)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    process, result = run_harness(
        model="owner/tiny", weights="pretrained", outputs_path=str(tmp_path / "outputs.npz")
    )
    assert process.returncode == 0, process.stderr
    assert (result["model"]["name"], result["model"]["source"]) == ("owner/tiny", "owner/tiny")
    with np.load(tmp_path / "outputs.npz") as outputs:
        assert outputs[outputs.files[0]].ravel()[:3] == pytest.approx([0, 1, 2], rel=1e-5)


def test_the_language_model_of_a_multimodal_checkpoint(run_harness, tmp_path):
    import transformers

    text = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
    config = transformers.Gemma3Config(
        text_config=text | {
            "vocab_size": 512, "num_hidden_layers": 2, "num_key_value_heads": 1, "head_dim": 16,
        },
        vision_config=text | {"num_hidden_layers": 1, "image_size": 28, "patch_size": 14},
        mm_tokens_per_image=4, image_token_index=500, boi_token_index=501, eoi_token_index=502,
    )  # fmt: skip
    transformers.Gemma3ForConditionalGeneration(config).save_pretrained(tmp_path / "mm")
    built = []
    for name, alone in (("whole", False), ("text", True)):
        process, result = run_harness(
            model=str(tmp_path / "mm"), weights="pretrained", text_only=alone, osl=3,
            outputs_path=str(tmp_path / f"{name}.npz"),
        )  # fmt: skip
        assert process.returncode == 0, process.stderr
        built.append((result["model"]["class"], result["model"]["text_only"]))
    assert built == [("Gemma3ForConditionalGeneration", False), ("Gemma3ForCausalLM", True)]
    # The wrapper computes the same from the same weights.
    rows = compare_outputs(tmp_path / "whole.npz", tmp_path / "text.npz")
    assert [row.identical for row in rows] == [True, True]


def test_weights_that_are_not_used_are_told(run_harness, tmp_path):
    from safetensors import torch as safetensors

    make_checkpoint(tmp_path, tmp_path / "checkpoint")
    file = tmp_path / "checkpoint" / "model.safetensors"
    weights = safetensors.load_file(file)
    weights["model.layers.2.mlp.up_proj.weight"] = weights["model.norm.weight"].clone()
    safetensors.save_file(weights, file, {"format": "pt"})
    _, result = run_harness(model=str(file.parent), weights="pretrained")
    told = "1 weight of the checkpoint not used: model.layers.2.mlp.up_proj.weight."
    assert told in result["notes"]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda w: w.pop("model.norm.weight"), "lacks 1 of the model's weights, which would be"),
        (
            lambda w: w.update({"model.norm.weight": w["model.norm.weight"][:32]}),
            "random: model.norm.weight ([32], not [64])",
        ),
    ],
)
def test_weights_that_a_checkpoint_lacks_are_named(run_harness, tmp_path, spoil, words):
    from safetensors import torch as safetensors

    make_checkpoint(tmp_path, tmp_path / "checkpoint")
    file = tmp_path / "checkpoint" / "model.safetensors"
    weights = safetensors.load_file(file)
    spoil(weights)
    safetensors.save_file({k: v.clone() for k, v in weights.items()}, file, {"format": "pt"})
    process, result = run_harness(model=str(file.parent), weights="pretrained")
    assert process.returncode == 1
    said = result["error"]["message"]
    assert words in said


@pytest.mark.parametrize(
    ("content", "words"), [(None, "no file named model.safetensors"), (b"junk", "header too small")]
)
def test_weights_that_cannot_be_read_are_one_sentence(run_harness, tmp_path, content, words):
    make_checkpoint(tmp_path, tmp_path / "checkpoint")
    file = tmp_path / "checkpoint" / "model.safetensors"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    process, result = run_harness(model=str(file.parent), weights="pretrained")
    assert process.returncode == 1
    said = result["error"]["message"]
    assert "cannot be loaded" in said
    assert words in said


def test_traced_steps_are_counted(tiny_model, run_harness):
    process, result = run_harness(model=str(tiny_model), mode="trace", osl=3, modules=True)
    assert process.returncode == 0, process.stderr
    assert result["steps"] == {"prefill": {"count": 2}, "decode": {"count": 4}}


def test_a_users_variant_is_loaded_from_the_working_folder(tiny_model, run_harness, tmp_path):
    (tmp_path / "mine.py").write_text(
        "def prepare(model, inputs, context):\n"
        "    assert context.phase == 'prefill'\n"
        "    return lambda: model(**inputs).logits\n"
    )
    process, result = run_harness(model=str(tiny_model), variant="mine:prepare")
    assert process.returncode == 0, process.stderr
    assert result["captured"] == {"prefill": "custom"}


def test_a_variant_that_fails_is_a_result_with_its_line(tiny_model, run_harness, tmp_path):
    (tmp_path / "mine.py").write_text(
        "def prepare(model, inputs, context):\n"
        "    raise RuntimeError('operation not permitted when stream is capturing\\nmore')\n"
    )
    process, result = run_harness(model=str(tiny_model), variant="mine:prepare")
    assert process.returncode == 0, process.stderr
    assert result["status"] == "failed"
    failure = result["failure"]
    assert failure["source"] == "mine.py:2"
    assert failure["error_line"] == "operation not permitted when stream is capturing"
    assert "900" in failure["hint"]
    assert failure["phase"] == "prefill"
    assert result["model"]["layers"] == 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"model": "gema-4-E4B"}, ("gema-4-E4B", "gemma-4-E4B")),
        ({"model": "nobody/nothing"}, ("nobody/nothing", "hub")),
        ({"model": "gpt2", "layers": 99}, ("12 layers, not 99",)),
        ({"model": "gpt2", "patch": "absent.py"}, ("absent.py", "does not exist")),
        ({"model": "gpt2", "variant": "cudgraph"}, ("cudgraph", "cudagraph")),
        ({"model": "gpt2", "variant": "absent_module:prepare"}, ("absent_module",)),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_one(run_harness, spec, words):
    process, result = run_harness(**spec)
    assert process.returncode == 1
    assert result["status"] == "error"
    error = result["error"]
    assert error["traceback"] is None
    assert "\n" not in error["message"]
    assert all(word in f"{error['message']} {error['hint']}" for word in words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("raise ValueError('no such thing')", "ValueError: no such thing"),
        ("def patch(model): model.absent_part()", "patch(model)"),
        ("import absent_module_of_the_patch", "absent_module_of_the_patch"),
    ],
)
def test_a_patch_that_fails_is_one_sentence(tiny_model, run_harness, tmp_path, text, words):
    (tmp_path / "fix.py").write_text(text)
    process, result = run_harness(model=str(tiny_model), patch=str(tmp_path / "fix.py"))
    assert process.returncode == 1
    assert words in result["error"]["message"]
    assert "fix.py" in result["error"]["message"]


def test_a_patch_changes_the_model(tiny_model, run_harness, tmp_path):
    (tmp_path / "fix.py").write_text(
        "def patch(model):\n    for layer in model.model.layers: layer.mlp.absent = None\n"
        "    model.model.layers = model.model.layers[:1]\n    model.config.num_hidden_layers = 1\n"
    )
    process, result = run_harness(model=str(tiny_model), patch=str(tmp_path / "fix.py"))
    assert process.returncode == 0, process.stderr
    assert result["model"]["layers"] == 1
    assert result["model"]["patch"].endswith("fix.py")


def test_a_graph_variant_without_a_gpu_says_so(tiny_model, run_harness):
    process, result = run_harness(model=str(tiny_model), variant="cudagraph")
    assert process.returncode == 1
    assert "no NVIDIA GPU" in result["error"]["message"]


def test_a_folder_without_a_configuration_is_named(run_harness, tmp_path):
    (tmp_path / "empty").mkdir()
    process, result = run_harness(model=str(tmp_path / "empty"))
    assert process.returncode == 1
    assert "no config.json" in result["error"]["message"]


def test_an_unreadable_spec_goes_to_standard_error(run_harness):
    process, result = run_harness(model="gpt2", nonsense=1)
    assert process.returncode == 1
    assert result is None
    assert "nonsense" in process.stderr


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("T5Config", {"model_type": "t5", "d_model": 64, "num_layers": 2}),
        ("WhisperConfig", {"model_type": "whisper", "d_model": 64, "encoder_layers": 2}),
    ],
)
def test_an_encoder_decoder_model_says_what_is_supported(run_harness, tmp_path, kind, values):
    (tmp_path / "config.json").write_text(json.dumps(values | {"is_encoder_decoder": True}))
    process, result = run_harness(model=str(tmp_path))
    assert process.returncode == 1
    assert process.stderr.count("\n") == 1
    assert f"is an encoder-decoder model ({kind})" in result["error"]["message"]
    assert "launchlens blockers TRACE" in result["error"]["hint"]
    assert result["error"]["traceback"] is None
