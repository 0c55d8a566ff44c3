"""Full, closed and abandoned streams: one sentence or silence, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launchlens.streams import inert

ROOT = Path(__file__).parents[2]
TRACE = "traces/qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
COMMANDS = [
    ["--help"],
    ["--version"],
    ["analyze", "--help"],
    ["analyze", TRACE],
    ["analyze", TRACE, "--format", "json"],
    ["diff", TRACE, TRACE, "--format", "markdown"],
    ["blockers", TRACE],
    ["comment", TRACE, TRACE, "--repo", "o/r", "--pr", "1", "--dry-run"],
    ["export", TRACE, "--perfetto", "-"],
    ["schema", "trend"],
    ["models"],
    ["doctor"],
    ["runs", "list", "--runs", "/nowhere"],
]

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")


def typed(redirection, command):
    """The command in a shell with a redirection: exit code and standard error."""
    words = [sys.executable, "-m", "launchlens", *command]
    ended = subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    assert "Exception ignored" not in ended.stderr, ended.stderr
    return ended.returncode, ended.stderr


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: " ".join(c[:1] + c[2:]))
def test_a_full_disk_is_one_sentence(command):
    code, said = typed(">/dev/full", command)
    assert code == 1
    *progress, sentence = said.splitlines()
    assert "cannot be written: no space left on device." in sentence
    assert not progress or progress == ["step 6 (prefill): prefill#6"]


@pytest.mark.parametrize("command", COMMANDS[3:], ids=lambda c: " ".join(c[:1] + c[2:]))
def test_a_closed_output_is_one_sentence(command):
    code, said = typed(">&-", command)
    assert code == 1
    assert "launchlens: Standard output is closed." in said.splitlines()[-1]


@pytest.mark.parametrize(
    "redirection", [">/dev/full 2>/dev/full", ">&- 2>&-", "2>&-", "2>/dev/full"]
)
def test_without_standard_error_there_is_silence(redirection):
    assert typed(redirection, ["analyze", TRACE])[1] == ""
    assert typed(redirection, ["analyze", "no-such-trace"]) == (1, "")


def test_a_reader_that_has_gone_is_no_error_of_ours():
    assert typed("| head -1 >/dev/null", ["analyze", TRACE, "-v"]) == (0, "")


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("::error title=x::y", "∷error title=x::y"),
        ("  ::set-output name=a::b", "  ∷set-output name=a::b"),
        ("first\n::add-mask::x\nlast", "first\n∷add-mask::x\nlast"),
        ("a name ##[error]x", "a name # #[error]x"),
        ("at::native::add", "at::native::add"),
        ("# a heading\n- [x] :: done", "# a heading\n- [x] :: done"),
    ],
)
def test_no_line_is_a_command_to_a_runner(line, printed):
    assert inert(line) == printed


def test_errors_that_hold_foreign_text_stay_one_harmless_line(cli, tmp_path):
    path = tmp_path / "report.json"
    path.write_text('{"schema": "\\n::error::x \\u001b[31m"}')
    code, out, err = cli("comment", path, "--repo", "o/r", "--pr", "1", "--dry-run")
    assert (code, out) == (1, "")
    assert len(err.splitlines()) == 1
    assert "\x1b" not in err
