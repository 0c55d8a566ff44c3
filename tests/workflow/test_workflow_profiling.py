"""What profiling makes of its child processes' answers, written here by hand."""

from __future__ import annotations

import pytest

from launchlens.protocol.facts import ChildError, Environment, ModelFacts, VariantFailure
from launchlens.protocol.result import TimeResult
from launchlens.protocol.spec import HarnessSpec
from launchlens.protocol.timings import SavedOutputs, UntimedRequests
from launchlens.records.variant import VariantFacts
from launchlens.workflow.profiling.gather import facts_of, failure_of
from launchlens.workflow.profiling.outcome import Outcome
from launchlens.workflow.profiling.plan import make_plan
from launchlens.workflow.profiling.progress import Progress
from launchlens.workflow.sides import variant_label

NOTE = "Shortened to 2 of 28 layers."
SPEC = HarnessSpec(
    model="org/m", result_path="r.json", osl=5, concurrency=(64,), patch="/somewhere/fix.py"
)
MACHINE = Environment("2.11.0", "5.17.0", "13.0", "NVIDIA H200", 150 * 10**9, "9.0", None, "3.12.3")
MODEL = ModelFacts(
    name="org/m",
    source="org/m",
    class_name="Model",
    weights="random",
    text_only=False,
    parameters=1,
    parameter_bytes=2,
    config_digest="0",
    dtype="bfloat16",
    layers=2,
    layers_note=NOTE,
    patch=None,
    model_layers=28,
)


def answer(**more):
    """A child's result: a shortened model with one request that could not be run."""
    told = {
        "variant": "eager",
        "spec": SPEC,
        "notes": ["The decode step was left eager: why."],
        "environment": MACHINE,
        "model": MODEL,
        "requests": [
            UntimedRequests(64, 25, 5, VariantFailure("Error", "ran out of GPU memory")),
        ],
        "outputs": SavedOutputs("o.npz", {}, {"float16": VariantFailure("E", "no kernel for it")}),
    }
    return TimeResult(**told | more)


def plan(**more):
    spec = HarnessSpec(model="qwen3-0.6b", result_path="unset", layers=2)
    given = {"variants": (), "trace_steps": 8, "graph_trace": "both", "device": "cpu"}
    return make_plan(spec, **given | {"nsys_args": (), "stacks": False, "timeout_s": 9.0} | more)


def test_what_a_child_could_not_measure_is_told():
    facts = facts_of(SPEC, answer(), command="launchlens profile", versions={})
    assert facts.notes == (
        "The decode step was left eager: why.",
        "With the patch fix.py.",
        "Concurrency 64 could not be run: ran out of GPU memory",
        "No outputs in float16: no kernel for it",
    )
    assert facts.layers_note == "Shortened to 2 of 28 layers."
    assert facts.requests == ()


@pytest.mark.parametrize(
    ("said", "during", "words"),
    [
        ({"failure": VariantFailure("X", "first line")}, "capture", "could not be captured"),
        ({"error": ChildError("X", "first line", None)}, "run", "could not be run"),
    ],
)
def test_a_step_that_cannot_be_captured_is_not_a_program_that_cannot_run(said, during, words):
    failure = failure_of(answer(**said))
    assert (failure.during, failure.words, failure.error_line) == (during, words, "first line")


@pytest.mark.parametrize(
    ("result", "variant", "unbuilt"),
    [
        (answer(model=None), "mine:f", True),  # the model's fault
        (answer(), "eager", False),  # the step's fault
        (answer(environment=None, model=None), "mine:f", False),  # the user's own module's fault
        (answer(environment=None, model=None), "eager", True),  # torch's fault
        (None, "eager", False),  # killed: nobody knows
    ],
)
def test_whether_other_variants_can_be_run(result, variant, unbuilt):
    facts = VariantFacts(variant=variant)
    assert Outcome(variant, "error", facts, variant, result=result).unbuilt is unbuilt


def test_what_was_asked_is_kept_without_what_only_children_need():
    arguments = plan(nsys_args=("--gpu-metrics-devices=0",)).arguments()
    assert arguments["layers"] == 2
    assert arguments["variants"] == ["eager"]
    assert (arguments["device"], arguments["trace_steps"]) == ("cpu", 8)
    assert arguments["nsys_args"] == ["--gpu-metrics-devices=0"]
    assert not {"result_path", "mode", "outputs_path", "patched_sources"} & set(arguments)


@pytest.mark.parametrize(
    ("model", "note", "label"),
    [
        ("google/gemma-3n-E2B-it", None, "gemma-3n-E2B-it-eager"),
        ("./my-checkpoint/", None, "my-checkpoint-eager"),
        ("qwen3-0.6b", NOTE, "qwen3-0.6b (2 of 28 layers)-eager"),
        (None, None, "20261130-k3f-eager"),
    ],
)
def test_the_name_of_a_variant(model, note, label):
    kept = {"layers": 2, "model_layers": 28} if note else {}
    facts = VariantFacts(model=model, layers_note=note, **kept)
    assert variant_label(facts, "eager", otherwise="20261130-k3f") == label


def test_of_an_older_version_the_whole_note_is_shown():
    facts = VariantFacts(model="m", layers_note=NOTE)
    assert variant_label(facts, "eager", otherwise="x") == f"m ({NOTE})-eager"


def test_a_variant_named_like_an_emoji_keeps_its_name(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    with Progress(1).stage("mine:x: untraced"):
        pass
    assert "[1/1] mine:x: untraced" in capsys.readouterr().err
