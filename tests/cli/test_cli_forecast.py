"""``launchlens forecast``, and the line that ``analyze`` ends with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

TRACES = Path(__file__).parents[2] / "traces"
QWEN = TRACES / "profile-qwen3-0.6b-eager.node.nsys2025.3.sqlite.xz"
GEMMA = TRACES / "profile-gemma-4-e4b-osl5-eager.node.nsys2025.3.sqlite.xz"
CAPTURED = TRACES / "profile-qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"


def test_analyze_ends_with_the_forecast(cli):
    code, out, err = cli("analyze", QWEN)
    assert (code, err) == (0, "")
    closing = " ".join(out[out.index("As one CUDA graph") :].split())
    assert closing.startswith("As one CUDA graph: about 4.71 ms (4.61 to 4.82), ")
    assert "× faster (forecast). Measure it" in closing


def test_analyze_of_a_captured_step_forecasts_nothing(cli):
    _, out, _ = cli("analyze", CAPTURED)
    assert "forecast" not in out


def test_the_first_line_is_the_answer(cli):
    code, out, _ = cli("forecast", QWEN, "--untraced-ms", "23.3")
    assert code == 0
    first = " ".join(out.split("\n\n")[0].split())
    assert first == (
        "profile-qwen3-0.6b-eager, prefill step: as one CUDA graph: about 4.71 ms "
        "(4.61 to 4.82), 4.9× faster (forecast)"
    )
    assert "broken at attention" in out
    assert "Transformers makes one while it is captured" in " ".join(out.split())


def test_a_speed_up_over_an_estimated_time_is_a_range(cli):
    """Also in the table: the step's own time is not known well enough for one number."""
    _, out, _ = cli("forecast", QWEN)
    (row,) = [line for line in out.splitlines() if line.startswith("as one CUDA graph ")]
    assert re.search(r" \d\.\d to \d\.\d× faster ", row)
    _, out, _ = cli("forecast", QWEN, "--untraced-ms", "23.3")
    (row,) = [line for line in out.splitlines() if line.startswith("as one CUDA graph ")]
    assert " 4.9× faster " in row
    assert " to 4.9× faster" not in row


def test_json_has_what_a_script_reads(cli):
    _, out, _ = cli("forecast", GEMMA, "--format", "json")
    said = json.loads(out)
    assert said["schema"] == "launchlens.forecast/1"
    assert said["untraced_ns"] == said["untraced"][0]["step_ns"]
    first = said["forecasts"][0]
    assert (first["variant"], first["phase"]) == ("cudagraph", "prefill")
    assert first["low_ns"] < first["step_ns"] < first["high_ns"]
    assert {f["phase"] for f in said["forecasts"]} == {"prefill", "decode"}
    assert said["constants"]["source"] == "shipped"


def test_json_fits_its_schema(cli):
    jsonschema = pytest.importorskip("jsonschema")
    _, schema, _ = cli("schema", "forecast")
    _, out, _ = cli("forecast", QWEN, "--format", "json")
    jsonschema.validate(json.loads(out), json.loads(schema))


def test_a_time_by_hand_is_taken_as_it_is(cli):
    _, out, _ = cli("forecast", QWEN, "--untraced-ms", "23.3", "--format", "json")
    said = json.loads(out)
    assert (said["untraced_ns"], said["untraced"][0]["source"]) == (23_300_000, "given")
    first = said["forecasts"][0]
    assert first["speedup"] == pytest.approx(23_300_000 / first["step_ns"])


def test_times_of_several_phases_must_be_named(fails, cli):
    err = fails("forecast", GEMMA, "--untraced-ms", "50", code=2)
    assert "prefill, decode" in err
    times = ("--untraced-ms", "prefill:51.5", "--untraced-ms", "decode:54")
    _, out, _ = cli("forecast", GEMMA, *times, "--format", "json")
    assert [u["step_ns"] for u in json.loads(out)["untraced"]] == [51_500_000, 54_000_000]
    assert "no such steps" in fails("forecast", QWEN, "--untraced-ms", "decode:5", code=2)


@pytest.mark.parametrize("text", ["x", "-1", "0", "nan", "inf", "prefill:", "1e9"])
def test_what_is_no_time_is_refused(fails, text):
    assert "milliseconds" in fails("forecast", QWEN, f"--untraced-ms={text}", code=2)


def test_a_captured_trace_is_told_why_not(cli):
    code, out, _ = cli("forecast", CAPTURED)
    assert code == 0
    assert "starts from an eager trace" in " ".join(out.split())


def test_breaks_that_match_nothing_are_refused(fails):
    assert "matches no kernel" in fails("forecast", QWEN, "--break-at", "nosuch", code=2)
    assert "regular expression" in fails("forecast", QWEN, "--break-at", "(", code=2)


def test_a_step_that_the_gpu_fills_gains_little_and_is_told(cli):
    """A made-up untraced time just above the GPU's work: what a graph saves, it costs."""
    _, out, _ = cli("forecast", QWEN, "--untraced-ms", "4.75")
    first = " ".join(out.split("\n\n")[0].split())
    assert "which may bring nothing or lose: as it is it takes 4.75 ms" in first


def test_a_step_that_a_graph_makes_slower_is_told(cli):
    """A made-up untraced time below what its operations take as a graph."""
    _, out, _ = cli("forecast", QWEN, "--untraced-ms", "4.4")
    first = " ".join(out.split("\n\n")[0].split())
    assert "slower than the 4.40 ms that it takes as it is (forecast)" in first


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_other_formats_say_the_same(cli, name):
    code, out, _ = cli("forecast", QWEN, "--format", name)
    assert code == 0
    assert "as one CUDA graph" in out
