"""What `launchlens profile` makes of its child processes' answers, written here by hand."""

from __future__ import annotations

import handmade
import pytest
import stored_runs

from launchlens.comparison import tabulate
from launchlens.limits import check_comparison, parse_condition
from launchlens.protocol.facts import ChildError, Environment, ModelFacts, VariantFailure
from launchlens.protocol.measured import SavedOutputs, UntimedRequests
from launchlens.protocol.result import TimeResult
from launchlens.protocol.spec import HarnessSpec
from launchlens.records.comparison import SideInput
from launchlens.records.measured import Failure, Untraced, VariantFacts
from launchlens.render.format import sentences
from launchlens.render.markdown import render_comparison_markdown
from launchlens.render.terminal import render_comparison
from launchlens.workflow.load import Choices, load
from launchlens.workflow.profiling.gather import facts_of, failure_of
from launchlens.workflow.profiling.outcome import Outcome
from launchlens.workflow.profiling.plan import make_plan
from launchlens.workflow.profiling.progress import Progress
from launchlens.workflow.sides import variant_label

NOTE = "Shortened to 2 of 28 layers."
OOM = Failure("OutOfMemoryError", "ran out of GPU memory (1 of 80 GiB free)", None, None)


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
        "notes": [NOTE, "The decode step was left eager: why."],
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


def side(name="eager", *, wall_ns=None, failure=None, analysis=None, **facts):
    untraced = (Untraced("prefill", handmade.stat(wall_ns)),) if wall_ns else ()
    own = VariantFacts(model="m", variant=name, untraced=untraced, failure=failure, **facts)
    return SideInput(f"m-{name}", analysis, facts=own)


@pytest.fixture(scope="module")
def eager():
    """An eager side with the figures of a shipped trace."""
    return side(wall_ns=49_100_000, analysis=load(stored_runs.EAGER, Choices()).analysis)


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


def test_a_note_of_all_sides_stands_once_and_another_with_its_side():
    both = {"layers_note": "Shortened to 2 of 28 layers."}
    sides = [side(**both), side("cudagraph", notes=("Decode was left eager.",), **both)]
    notes = tabulate(sides).notes
    assert notes[:2] == ("Shortened to 2 of 28 layers.", "m-cudagraph: Decode was left eager.")


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


class TestFailedCandidate:
    """Not a table of unknowns: the column says that it failed, the first line why."""

    @pytest.fixture
    def comparison(self, eager):
        return tabulate([eager, side("cudagraph", failure=OOM)])

    def test_first_line(self, comparison):
        assert sentences(comparison) == [
            "m-eager → cudagraph: could not be captured: ran out of GPU memory (1 of 80 GiB free)"
        ]

    def test_terminal(self, comparison):
        out = render_comparison(comparison, width=80)
        rows = [line for line in out.partition("\n\n")[2].splitlines() if "  failed" in line]
        assert [row[:15].strip() for row in rows[:1]] == ["launches per st"]
        assert any(row.startswith("step, untraced") and "49.1 ms  " in row for row in rows)
        columns = next(line for line in out.splitlines() if line.startswith("GPU busy")).split()
        assert columns[4] == "failed"

    def test_markdown(self, comparison):
        assert "| step, untraced | 49.1 ms | failed |" in render_comparison_markdown(comparison)

    def test_threshold_is_not_known_to_hold(self, comparison):
        (result,) = check_comparison([parse_condition("untraced_ns>+5%")], comparison)
        assert not result.passed
        assert result.reason == "could not be captured"

    def test_one_that_ran_but_left_no_trace_keeps_its_speed_up(self, eager):
        lost = Failure("CaptureError", "nsys ended with 1", None, None, during="trace")
        comparison = tabulate([eager, side("cudagraph", wall_ns=13_000_000, failure=lost)])
        (said,) = sentences(comparison)
        assert said.endswith("step 49.1 → 13.0 ms untraced (3.78× faster)")
        assert "→ failed" in said
        assert "m-cudagraph could not be traced: nsys ended with 1" in comparison.notes


def test_one_side_alone_is_a_sentence_and_a_table(eager):
    comparison = tabulate([eager])
    out = render_comparison(comparison, width=80)
    assert out.startswith("m-eager: launches per prefill step ")
    assert "step 49.1 ms untraced" in " ".join(out.split())
    assert "→" not in out
    (failed,) = check_comparison([parse_condition("untraced_ns>40ms")], comparison)
    (held,) = check_comparison([parse_condition("untraced_ns>50ms")], comparison)
    assert (failed.status, held.status) == ("failed", "held")
    assert failed.baseline is None


def test_a_variant_named_like_an_emoji_keeps_its_name(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # as in a terminal
    with Progress(1).stage("mine:x: untraced"):
        pass
    assert "[1/1] mine:x: untraced" in capsys.readouterr().err
