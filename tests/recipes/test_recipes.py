"""Recipes: the four that come along, one's own, and what they make of a command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from launchlens.errors import UsageError
from launchlens.metrics.engines import patterns
from launchlens.recipes import all_recipes, apply_recipe, find_recipe, recipe_for, recipe_of_engine
from launchlens.recipes.apply import port_of, ranks_of
from launchlens.recipes.find import parse_recipe
from launchlens.recipes.logs import parse_engine_log, read_engine_log

OWN = """
name = "acme"
title = "Acme"
commands = ['acme-serve']
checked = "made up for this test"
[recording]
capture_range = "none"
opens = "the whole run is recorded"
"""

PHASES = {
    "execute_context_1(25)_generation_0(0)": ("prefill", 25),
    "execute_context_0(0)_generation_4(4)": ("decode", 4),
    "step[EXTEND bs=1 toks=25]": ("prefill", 25),
    "step[DECODE bs=4]": ("decode", None),
    "scheduler.run_batch": ("unknown", None),
    "[Executor] _forward_step 100: 1 ctx reqs, 25 ctx tokens, 0 gen reqs": ("prefill", 25),
}
"""What the engines' own texts say, read by eye."""


@pytest.mark.parametrize("recipe", all_recipes(), ids=lambda r: r.name)
def test_each_recipe_is_for_its_own_example_and_its_steps_are_found(recipe):
    assert recipe_for(shlex.split(recipe.example)) == recipe
    assert recipe.sources
    assert recipe.unverified, "nothing of these was checked on every machine"
    for text in recipe.steps.examples:
        found = next(p for p in patterns() if p.regex.search(text))
        match = found.regex.search(text)
        assert found.engine in recipe.steps.engines
        assert recipe_of_engine(found.engine) == recipe
        assert (found.phase(match), found.tokens(match)) == PHASES[text]
    assert bool(recipe.steps.examples) != recipe.steps.whole


def test_there_are_the_four_engines():
    assert [r.name for r in all_recipes({})] == ["sglang", "transformers", "trtllm", "vllm"]


def test_vllm_bench_latency():
    command = ["vllm", "bench", "latency", "--model", "m"]
    applied = apply_recipe(find_recipe("vllm"), command, environ={}, mode="eager")
    assert applied.command[:5] == tuple(command)
    assert applied.added == (
        *("--profiler-config.profiler", "cuda", "--profile", "--enforce-eager"),
    )
    assert applied.environment == {"VLLM_WORKER_MULTIPROC_METHOD": "spawn"}
    assert applied.capture_range == "cudaProfilerApi"


def test_what_the_user_said_stays():
    command = shlex.split("vllm serve m --profiler-config.profiler torch --enforce-eager")
    environ = {"VLLM_WORKER_MULTIPROC_METHOD": "fork"}
    applied = apply_recipe(find_recipe("vllm"), command, environ=environ, mode="eager")
    assert (applied.added, applied.environment) == ((), {})


def test_a_client_gets_nothing_added():
    command = ["vllm", "bench", "serve", "--model", "m"]
    assert apply_recipe(find_recipe("vllm"), command, environ={}).added == ()


def test_iterations_as_each_engine_is_told():
    vllm = apply_recipe(find_recipe("vllm"), ["vllm", "serve"], environ={}, iterations=(100, 110))
    assert vllm.command[-4:] == (
        *("--profiler-config.delay_iterations", "100"),
        *("--profiler-config.max_iterations", "11"),
    )
    trtllm = find_recipe("trtllm")
    assert apply_recipe(trtllm, ["trtllm-serve", "m"], environ={}).capture_range == "none"
    told = apply_recipe(trtllm, ["trtllm-serve", "m"], environ={}, iterations=(100, 110))
    assert told.environment["TLLM_PROFILE_START_STOP"] == "100-110"
    assert told.capture_range == "cudaProfilerApi"
    with pytest.raises(UsageError, match="SGLang takes no iterations") as error:
        apply_recipe(find_recipe("sglang"), [], environ={}, iterations=(1, 2))
    assert "start_step" in error.value.hint


def test_modes():
    breakable = apply_recipe(find_recipe("vllm"), ["vllm"], environ={}, mode="breakable")
    assert breakable.environment["VLLM_USE_BREAKABLE_CUDAGRAPH"] == "1"
    with pytest.raises(UsageError, match="no mode 'fast': there are default, eager"):
        apply_recipe(find_recipe("vllm"), ["vllm"], environ={}, mode="fast")
    with pytest.raises(UsageError, match="from its configuration file") as error:
        apply_recipe(find_recipe("trtllm"), [], environ={}, mode="breakable")
    assert "prefill_cuda_graph_backend: breakable" in error.value.hint


def test_ranks_and_ports():
    vllm = find_recipe("vllm")
    command = shlex.split("vllm serve m --tensor-parallel-size 2 -pp=2 --port 9000")
    assert ranks_of(vllm, command) == 4
    assert port_of(vllm, command) == 9000
    assert port_of(vllm, ["vllm", "serve", "m"]) == 8000
    assert port_of(vllm, ["vllm", "bench", "latency"]) is None


def test_ones_own_recipe_by_path_and_in_a_folder(tmp_path):
    file = tmp_path / "acme.toml"
    file.write_text(OWN)
    assert find_recipe(str(file)).title == "Acme"
    listed = all_recipes({"LAUNCHLENS_RECIPES": str(tmp_path)})
    assert [r.name for r in listed] == ["acme", "sglang", "transformers", "trtllm", "vllm"]
    assert find_recipe("acme", {"LAUNCHLENS_RECIPES": str(tmp_path)}).name == "acme"


def test_ones_own_replaces_ours_of_the_same_name(tmp_path):
    (tmp_path / "mine.toml").write_text(OWN.replace('"acme"', '"vllm"'))
    assert find_recipe("vllm", {"LAUNCHLENS_RECIPES": str(tmp_path)}).title == "Acme"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "is not TOML"),
        (OWN.replace("title", "titel"), "is no recipe: title: Field required"),
        ("colour = 1\n" + OWN, "is no recipe: colour: Unexpected"),
        (OWN.replace('"none"', '"some"'), "recording.capture_range"),
        (OWN.replace("'acme-serve'", "'acme('"), "no regular expression"),
        (OWN + "ranks = 3", "is no recipe"),
        ("[" * 5000, "is not TOML"),
    ],
)
def test_what_is_no_recipe(text, said):
    with pytest.raises(UsageError, match=re.escape(said)):
        parse_recipe(text, named="x.toml")


def test_no_such_file(tmp_path):
    with pytest.raises(UsageError, match="cannot be read: no such file"):
        find_recipe(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="There is no recipe 'ollama'"):
        find_recipe("ollama")


# Lines as engines wrote them, from public reports.
VLLM_EAGER = (
    "(EngineCore pid=398) WARNING 05-06 08:19:55 [vllm.py:788] Enforce eager set, disabling "
    "torch.compile and CUDAGraphs. This is equivalent to setting -cc.mode=none "
    "-cc.cudagraph_mode=none"
)
VLLM_BACKEND = (
    "(EngineCore pid=282) WARNING 06-01 21:56:11 [compilation.py:1416] CUDAGraphMode.FULL is not "
    "supported with FlashInferBackend backend (support: AttentionCGSupport.UNIFORM_BATCH); setting "
    "cudagraph_mode=FULL_AND_PIECEWISE"
)
VLLM_SIZES = (
    "'cudagraph_num_of_warmups': 1, 'cudagraph_capture_sizes': [1, 2, 4, 8, 16, 24], "
    "'cudagraph_copy_inputs': False"
)
SGLANG = (
    "[2026-05-29 02:06:46] Disable piecewise CUDA graph because the model is not a language model\n"
    "[2026-05-28 02:36:06] Capture cuda graph bs [1, 2, 4, 8, 12, 16, 24, 32]\n"
)


def test_vllms_log():
    told = parse_engine_log("\n".join([VLLM_EAGER, VLLM_BACKEND, VLLM_EAGER]), find_recipe("vllm"))
    assert [(r.text, r.phases) for r in told.reasons] == [
        ("Enforce eager set, disabling torch.compile and CUDAGraphs", ()),
        (VLLM_BACKEND.partition("] ")[2], ()),
    ]
    sizes = parse_engine_log(VLLM_SIZES, find_recipe("vllm")).captured_sizes
    assert sizes["prefill"] == sizes["decode"] == (1, 2, 4, 8, 16, 24)


def test_sglangs_log():
    told = parse_engine_log(SGLANG, find_recipe("sglang"))
    assert told.captured_sizes == {"decode": (1, 2, 4, 8, 12, 16, 24, 32)}
    (reason,) = told.reasons
    assert reason.phases == ("prefill", "mixed")
    assert reason.text.endswith("the model is not a language model")


def test_a_log_of_anything_else_says_nothing(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"\xff\x00" * 1000 + b"no graph\r\n" * 10)
    told = read_engine_log(log, find_recipe("vllm"))
    assert (told.captured_sizes, told.reasons) == ({}, ())
    with pytest.raises(UsageError, match="cannot be read"):
        read_engine_log(Path(tmp_path / "gone"), find_recipe("vllm"))
