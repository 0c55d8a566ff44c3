"""The pytest plug-in, run by pytest in a folder of its own on a shipped trace."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

TRACES = Path(__file__).parents[1] / "traces"
EAGER = TRACES / "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
CAPTURED = TRACES / "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"
HIDDEN = TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"

BUDGET = """
[models."qwen3-0.6b-cudagraph*".prefill]
launches = 1
idle = { max = "100%" }
[models."qwen3-0.6b-eager*".prefill]
launches = 1
[models."gemma-3n*".prefill]
idle = "90%"
"""


@pytest.fixture
def run(pytester):
    """Runs a test's body with the plug-in loaded, and returns the result."""
    known = {entry.name for entry in entry_points(group="pytest11")}
    arguments = [] if "launchlens" in known else ["-p", "launchlens.pytest_plugin"]
    pytester.makefile(".toml", launchlens=BUDGET)

    def run(body, *more):
        pytester.makepyfile(f"def test_budget(launchlens_budget):\n    {body}\n")
        # In a process of its own: NumPy cannot be loaded a second time in one.
        return pytester.runpytest_subprocess(*arguments, *more)

    return run


def test_a_trace_within_its_budget_passes(run):
    body = f"assert len(launchlens_budget({str(CAPTURED)!r})) == 2"
    run(body).assert_outcomes(passed=1)


def test_a_broken_limit_shows_budget_value_and_parts(run):
    result = run(f"launchlens_budget({str(EAGER)!r})")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*breaks 1 limit(s) of *launchlens.toml:",
            "*FAILED: qwen3-0.6b-eager*: prefill launches <= 1 (*): *; cudaLaunchKernel* per step",
        ]
    )


def test_a_baseline_tells_what_changed(run):
    result = run(f"launchlens_budget({str(EAGER)!r}, baseline={str(CAPTURED)!r})")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*from 1 to *changed, per step: cudaLaunchKernel* +*"])


def test_an_unknown_figure_fails_with_the_reason(run):
    result = run(f"launchlens_budget({str(HIDDEN)!r})")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*FAILED (unknown)*idle <= 90%*"])


def test_the_models_name_finds_limits_and_blockers_are_counted(run, pytester):
    limit = "blockers = { max = 100, confidence = 'suspected', min = 1 }"
    (pytester.path / "named.toml").write_text(f"[models.named]\n{limit}\n")
    body = f"print(launchlens_budget({str(EAGER)!r}, budget='named.toml', model='named'))"
    run(body).assert_outcomes(passed=1)


def test_another_file_by_ini_and_by_argument(run, pytester):
    loose = pytester.path / "loose.toml"
    loose.write_text('[models."*"]\nlaunches = 100000\nblockers = 1000\n')
    run(f"launchlens_budget({str(EAGER)!r}, budget='loose.toml')").assert_outcomes(passed=1)
    body = f"launchlens_budget({str(EAGER)!r})"
    run(body, "-o", "launchlens_budget=loose.toml").assert_outcomes(passed=1)


def test_a_trace_without_limits_does_not_pass(run, pytester):
    (pytester.path / "other.toml").write_text("[models.other]\nlaunches = 1\n")
    result = run(f"launchlens_budget({str(EAGER)!r}, budget='other.toml')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*has no limits for qwen3-0.6b-eager*"])


def test_what_cannot_be_read_is_one_sentence_and_no_traceback(run):
    result = run("launchlens_budget('none.sqlite')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*none.sqlite: no such file. Check the path."])
    result.stdout.no_fnmatch_line("*_read_head*")
