"""`launchlens analyze`, `diff` and `schema` as a user types them: output, files, exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from build_trace import TraceBuilder

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "traces"
EAGER = TRACES / "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
NODE = TRACES / "qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz"
SPANS = TRACES / "qwen3-0.6b-cudagraph.graph.nsys2025.3.sqlite.xz"
MISSING = TRACES / "gemma-3n-cudagraph.default-mode.nsys2023.4.sqlite.xz"


def launchlens(*args, env=None, stdin=None):
    """Run the program; returns (exit code, stdout, stderr)."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
    done = subprocess.run(
        [sys.executable, "-m", "launchlens", *map(str, args)],
        capture_output=True,
        env=clean | (env or {}),
        cwd=ROOT,
        input=stdin,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def fails(*args, code=1, **how):
    """One sentence on standard error, nothing on standard output, no traceback."""
    returned, out, err = launchlens(*args, **how)
    assert (returned, out) == (code, "")
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1, err
    assert err.startswith("launchlens: ")
    return err


@pytest.fixture
def drawn(tmp_path):
    trace = TraceBuilder()
    for number in range(4):
        at = 1000 * number
        trace.range(f"{'warm' if number == 0 else 'hot'} run", at, at + 900)
        trace.launch(at + 10, at + 20, kernel=(at + 30, at + 500), name="gemm")
    return trace.write(tmp_path / "drawn.sqlite")


def test_analyze_answers_in_the_first_line():
    code, out, err = launchlens("analyze", EAGER)
    assert (code, err) == (0, "")
    assert out.startswith("qwen3-0.6b-eager: 1569 launches per prefill step, GPU idle 89.0% of ")
    assert re.search(r"^launches per step +1569 ", out, re.M)


def test_diff_answers_in_the_first_line():
    code, out, err = launchlens("diff", EAGER, NODE)
    assert (code, err) == (0, "")
    assert out.startswith(
        "qwen3-0.6b-eager → cudagraph: prefill step 32.9 → 5.20 ms, 6.3× faster, "
    )


def test_pipes_get_no_colour_and_a_hundred_columns():
    _, out, _ = launchlens("diff", EAGER, NODE)
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_columns_set_the_width(columns):
    code, out, _ = launchlens("diff", EAGER, NODE, "-v", env={"COLUMNS": str(columns)})
    assert code == 0
    assert max(map(len, out.splitlines())) <= columns


def in_a_terminal(*args, env):
    """Run the program with a pseudo-terminal for standard output."""
    import pty

    master, slave = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "launchlens", *map(str, args)],
        stdout=slave, stderr=subprocess.PIPE, cwd=ROOT, env={**os.environ, **env},
    )  # fmt: skip
    os.close(slave)
    seen = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    child.communicate(timeout=60)
    return seen.decode()


def test_terminals_get_colour_unless_they_ask_for_none(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in in_a_terminal("diff", EAGER, NODE, env={"TERM": "xterm-256color"})
    assert "\x1b[" not in in_a_terminal("diff", EAGER, NODE, env={"NO_COLOR": "1"})


def test_a_file_gets_what_the_screen_would(tmp_path):
    report = tmp_path / "report.md"
    code, out, err = launchlens("diff", EAGER, NODE, "--format", "markdown", "-o", report)
    assert (code, out, err) == (0, "", f"wrote {report}\n")
    assert report.read_text() == launchlens("diff", EAGER, NODE, "-f", "markdown")[1]


def test_a_file_that_cannot_be_written(tmp_path):
    assert "cannot be written" in fails("analyze", EAGER, "-o", tmp_path / "no" / "folder.txt")


def test_markdown_collapses_provenance():
    _, out, _ = launchlens("diff", EAGER, NODE, "--format", "markdown")
    heading, table = out.split("\n\n")[:2]
    assert heading == "### Prefill step 6.3× faster (traced) · 1569 → 1 launches"
    assert table.splitlines()[0] == "| prefill | eager | cudagraph | change |"
    assert len(table.splitlines()) == 2 + 5
    provenance = out[out.index("<summary>Provenance") :]
    for word in ("NVIDIA H200", "2025.3.2", "3.20", "steps used", "steps dropped", "SHA-256"):
        assert word in provenance


@pytest.mark.parametrize(
    ("report", "args"),
    [
        ("analysis", ["analyze", EAGER]),
        ("analysis", ["analyze", SPANS]),
        ("analysis", ["analyze", MISSING]),
        ("analysis", ["analyze", EAGER, "--skip", "2"]),
        ("comparison", ["diff", EAGER, NODE]),
        ("comparison", ["diff", EAGER, NODE, SPANS, MISSING]),
    ],
)
def test_json_is_what_the_schema_command_says(report, args):
    code, out, err = launchlens(*args, "--format", "json")
    assert (code, err) == (0, "")
    schema = json.loads(launchlens("schema", report)[1])
    jsonschema.Draft202012Validator(schema).validate(json.loads(out))


def test_schema_prints_the_analysis_by_default():
    assert launchlens("schema")[1] == launchlens("schema", "analysis")[1]


def test_csv_has_a_line_for_each_step():
    _, out, _ = launchlens("analyze", EAGER, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == len(json.loads((TRACES / "expected.json").read_text())[EAGER.name])


def test_skipped_steps_are_said():
    _, out, _ = launchlens("analyze", EAGER, "--skip", "2")
    assert re.search(r"prefill: \d+ steps, 2 dropped", out)
    assert "2 dropped" in launchlens("diff", EAGER, NODE, "--skip", "2")[1]
    assert json.loads(launchlens("analyze", EAGER, "--skip", "2", "-f", "json")[1])["skipped"] == 2
    assert "2 dropped" in launchlens("analyze", EAGER, "--skip", "2", "-f", "markdown")[1]


def test_steps_by_the_users_pattern(drawn):
    code, out, _ = launchlens("analyze", drawn, "--step", "run$", "--format", "json")
    assert code == 0
    assert [s["phase"] for s in json.loads(out)["steps"]] == ["unknown"] * 4
    (folder := drawn.parent / "named.sqlite").write_bytes(drawn.read_bytes())
    err = fails("analyze", folder, "--step", "nope")
    assert "'hot run' ×3, 'warm run' ×1" in err


def test_the_phase_may_come_from_a_named_group(tmp_path):
    trace = TraceBuilder()
    for number, word in enumerate(("Context", "generation", "generation")):
        trace.range(f"go {word}", 1000 * number, 1000 * number + 900)
        trace.launch(1000 * number + 10, 1000 * number + 20, kernel=(1000 * number + 30,
                     1000 * number + 99))  # fmt: skip
    path = trace.write(tmp_path / "t.sqlite")
    pattern = r"^go (?P<phase>\w+)"
    for phase, count in (("prefill", 1), ("decode", 2), ("all", 3)):
        _, out, _ = launchlens("analyze", path, "--step", pattern, "--phase", phase, "-f", "json")
        assert len(json.loads(out)["steps"]) == count
    assert "no mixed step (phases there: prefill ×1, decode ×2)" in fails(
        "analyze", path, "--step", pattern, "--phase", "mixed"
    )


def test_a_trace_without_steps_lists_its_ranges_and_reads_whole(drawn):
    err = fails("analyze", drawn)
    assert "'hot run' ×3, 'warm run' ×1" in err
    assert "--step" in err
    code, out, _ = launchlens("analyze", drawn, "--whole", "--format", "json")
    (step,) = json.loads(out)["steps"]
    assert (code, step["launches"], step["window_ns"]) == (0, 4, 3490)


# Exit codes --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("launches>+0", 0),
        ("launches>+0%", 0),
        ("launches>0", 3),
        ("launches<1000", 3),
        ("kernels>+100", 3),
        ("kernels>+1000", 0),
        ("idle>+2pp", 0),
        ("idle<-50pp", 3),
        ("window_ns>+5%", 0),
        ("window_ns>1ms", 3),
        ("busy_ns>+5%", 3),
        ("prefill:window_ns>+5%", 0),
        ("decode:window_ns>+5%", 3),  # there are none: cannot be known to hold
    ],
)
def test_thresholds_end_with_three(condition, code):
    returned, out, err = launchlens("diff", EAGER, NODE, "--fail-on", condition)
    assert returned == code, err
    assert out, "the report is printed all the same"
    assert bool(err) == (code == 3)
    if err:
        assert condition in err


def test_any_of_several_thresholds_is_enough():
    args = ("diff", EAGER, NODE, "--fail-on", "launches>+0", "--fail-on", "kernels>+1")
    assert launchlens(*args)[0] == 3


def test_an_unknown_figure_does_not_pass():
    code, _, err = launchlens("diff", EAGER, MISSING, "--fail-on", "idle>+2pp")
    assert code == 3
    assert "unknown" in err


def test_a_bound_does_not_prove_a_limit():
    code, _, err = launchlens("diff", EAGER, SPANS, "--fail-on", "idle>+2pp")
    assert code == 3
    assert "bound" in err


def test_analyze_takes_limits_on_values_only():
    assert launchlens("analyze", EAGER, "--fail-on", "launches>2000")[0] == 0
    assert launchlens("analyze", EAGER, "--fail-on", "launches>1000")[0] == 3
    code, _, err = launchlens("analyze", EAGER, "--fail-on", "launches>+0")
    assert code == 2
    assert "needs a baseline" in err


@pytest.mark.parametrize(
    "args",
    [
        ("analyze",),
        ("analyze", EAGER, "--format", "docx"),
        ("analyze", EAGER, "--phase", "warmup"),
        ("analyze", EAGER, "--skip", "-1"),
        ("analyze", EAGER, "--skip", "99"),
        ("analyze", EAGER, "--step", "("),
        ("analyze", EAGER, "--fail-on", "nonsense"),
        ("analyze", EAGER, "--fail-on", "no_such_metric>5"),
        ("diff", EAGER),
        ("schema", "nothing"),
        ("no-such-command",),
    ],
)
def test_usage_errors_end_with_two(args):
    code, _, err = launchlens(*args)
    assert code == 2, err
    assert err
    assert "Traceback" not in err


def test_wrong_thresholds_are_refused_before_any_work():
    err = fails("diff", "missing.sqlite", "missing.sqlite", "--fail-on", "nonsense", code=2)
    assert "is no threshold" in err


# What cannot be read -----------------------------------------------------------------------------


def spoilt(folder, kind):
    good = TraceBuilder()
    good.range("prefill", 0, 100)
    good.launch(10, 15, kernel=(20, 40))
    path = good.write(folder / f"{kind}.sqlite")
    raw = path.read_bytes()
    if kind == "truncated":
        path.write_bytes(raw[: len(raw) // 2])
    elif kind == "encrypted":
        path.write_bytes(os.urandom(4096))
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "missing":
        path.unlink()
    elif kind == "half-written":
        path.with_name(path.name + "-journal").write_bytes(b"x" * 600)
    elif kind == "newer":
        good.schema_version = "7.0.0"
        good.write(path)
    elif kind == "damaged":
        path.write_bytes(raw[:4096] + os.urandom(len(raw) - 4096))
    elif kind == "folder":
        path.unlink()
        path.mkdir()
    elif kind == "other":
        import sqlite3

        path.unlink()
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE t (x)")
    return path


KINDS = {
    "truncated": "truncated",
    "encrypted": "not a trace in a format",
    "empty": "is empty",
    "missing": "no such file",
    "half-written": "half-written",
    "newer": "7.0.0",
    "damaged": "damaged",
    "folder": "is a folder",
    "other": "not a trace in a format",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_no_trace_ends_with_one_sentence(tmp_path, kind):
    path = spoilt(tmp_path, kind)
    assert KINDS[kind] in fails("analyze", path)
    assert KINDS[kind] in fails("diff", path, EAGER)


def test_a_report_without_nsys_says_which_command_to_run(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    import launchlens.capture
    from launchlens.cli.main import app
    from launchlens.errors import CaptureError

    def nowhere(*_args):
        raise CaptureError("nsys was not found.")

    monkeypatch.setattr(launchlens.capture, "find_nsys", nowhere)
    report = tmp_path / "run one.nsys-rep"
    report.write_bytes(b"anything")
    result = CliRunner().invoke(app, ["analyze", str(report)])
    assert isinstance(result.exception, CaptureError)
    assert result.exception.exit_code == 1
    assert re.search(r"nsys export .*'.*run one\.nsys-rep'", str(result.exception))


def test_hostile_names_in_messages_keep_to_one_line(tmp_path):
    trace = TraceBuilder()
    trace.range("evil\n\x1b[31m range", 0, 100)
    trace.launch(10, 15, kernel=(20, 40))
    err = fails("analyze", trace.write(tmp_path / "t.sqlite"))
    assert "\x1b" not in err


def test_a_file_name_that_is_not_utf8(drawn):
    path = Path(os.fsdecode(os.fsencode(drawn.parent) + b"/odd\xff.sqlite"))
    path.write_bytes(drawn.read_bytes())
    for report in ("terminal", "json", "markdown", "csv"):
        code, out, err = launchlens("analyze", path, "--whole", "--format", report)
        assert (code, err) == (0, ""), report
        assert out


def test_an_encoding_without_arrows_is_no_crash():
    code, out, err = launchlens("diff", EAGER, NODE, env={"PYTHONIOENCODING": "ascii"})
    assert (code, err) == (0, "")
    assert "qwen3-0.6b-eager ? cudagraph" in out


def test_a_reader_that_leaves_early_is_no_crash():
    command = f"{sys.executable} -m launchlens analyze {EAGER} -f csv | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, cwd=ROOT, timeout=60, check=False
    )
    assert done.stderr == b""


def test_the_users_file_is_untouched(tmp_path):
    path = spoilt(tmp_path, "good")
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    assert launchlens("analyze", path)[0] == 0
    assert launchlens("diff", path, path)[0] == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_verbose_shows_every_metric_also_what_is_zero_or_unknown():
    wide = {"COLUMNS": "200"}
    brief, out = (launchlens("analyze", MISSING, *v, env=wide)[1] for v in ((), ("-v",)))
    for title, median in (
        ("captured calls", "0"),
        ("graph launches without work in the trace", "1"),
        ("alloc calls", "0"),
        ("idle: call not recorded", "unknown"),
        ("projected range", "unknown"),
    ):
        assert re.search(rf"^{title} +{median}", out, re.M), title
    assert "alloc calls" not in brief


def test_several_traces_are_a_line_each_and_point_to_diff():
    code, out, err = launchlens("analyze", EAGER, NODE, env={"COLUMNS": "100"})
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert ["qwen3-0.6b-eager", "prefill", "1569"] in [line[:3] for line in lines]
    assert ["qwen3-0.6b-cudagraph", "prefill", "1"] in [line[:3] for line in lines]
    assert f"launchlens diff {EAGER} {NODE}" in out


def test_limits_hold_for_each_of_several_traces():
    code, _, err = launchlens("analyze", NODE, EAGER, "--fail-on", "launches>1000")
    assert code == 3
    assert "qwen3-0.6b-eager" in err
    assert "cudagraph" not in err
    assert launchlens("analyze", NODE, EAGER, "--fail-on", "launches>2000")[0] == 0


def test_a_log_is_of_one_trace(tmp_path):
    log = tmp_path / "engine.log"
    log.write_text("")
    code, _, err = launchlens("analyze", EAGER, NODE, "--log", log)
    assert code == 2
    assert "--log is about one trace." in err
