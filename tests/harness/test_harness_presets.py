import subprocess
import sys

import pytest

from launchlens.harness.presets import find_preset, list_presets, unknown_model_error


def test_eighteen_architectures_are_packaged():
    presets = list_presets()
    assert len(presets) == 18
    assert {"gemma-3n-E4B", "gemma-4-E4B", "qwen3-0.6b", "mixtral-8x7b"} <= {
        preset.name for preset in presets
    }


# The numbers of layers are the published ones (model cards).
@pytest.mark.parametrize(
    ("name", "layers"),
    [("gpt2", 12), ("qwen3-0.6b", 28), ("gemma-3n-E4B", 35), ("llama-3.1-8b", 32)],
)
def test_layers_of_presets(name, layers):
    assert find_preset(name).layers == layers


@pytest.mark.parametrize(
    "name",
    [
        "gemma-4-E4B",
        "gemma-4-e4b",
        "gemma-4-E4B-it",
        "google/gemma-4-E4B-it",
        "GEMMA_4_E4B",
    ],
)
def test_a_preset_is_found_however_it_is_written(name):
    assert find_preset(name).name == "gemma-4-E4B"


@pytest.mark.parametrize(
    ("hub_id", "name"),
    [
        ("meta-llama/Llama-3.2-1B-Instruct", "llama-3.2-1b"),
        ("openai-community/gpt2", "gpt2"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistral-7b-v0.3"),
        ("Qwen/Qwen3-30B-A3B", "qwen3-30b-a3b"),
    ],
)
def test_a_preset_is_found_by_its_hub_id(hub_id, name):
    assert find_preset(hub_id).name == name


def test_an_unknown_name_gets_the_nearest_ones():
    assert find_preset("gema-4-E4B") is None
    assert "gemma-4-E4B" in unknown_model_error("gema-4-E4B").hint
    assert "launchlens models" in unknown_model_error("zzzzzz").hint


def test_a_parent_can_read_presets_and_specs_without_torch():
    program = (
        "import sys, launchlens.harness.presets as p, launchlens.protocol.result, "
        "launchlens.harness.equivalence, launchlens.harness.variants; p.list_presets(); "
        "sys.exit(any(name in sys.modules for name in ('torch', 'transformers', 'nvtx')))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        ("google/gemma-4-E4B-it", "gemma-4-E4B"),
        ("google/gemma-4-E4B", "gemma-4-E4B"),
        ("GPT2", "gpt2"),
        ("unsloth/gpt2", None),  # somebody else's repository may hold anything
        ("Qwen/Qwen3-0.6B-Base", None),
        ("nobody/Qwen3-0.6B", None),
    ],
)
def test_a_hub_id_is_a_preset_only_if_it_is_the_presets_own(name, preset):
    found = find_preset(name)
    assert (found.name if found else None) == preset


def test_the_child_imports_of_launchlens_what_it_shares_with_the_parent_alone():
    program = (
        "import sys, importlib, pkgutil, launchlens.harness as h; "
        "[importlib.import_module(m.name) for m in pkgutil.walk_packages(h.__path__, "
        "'launchlens.harness.') if not m.name.endswith('__main__')]; "
        "print(*sorted({n.split('.')[1] for n in sys.modules if n.startswith('launchlens.')}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    leaves = {"capture_errors", "errors", "suggestions"}
    assert set(done.stdout.split()) - leaves == {"harness", "protocol"}
