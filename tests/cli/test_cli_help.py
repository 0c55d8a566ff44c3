"""Help: what one types is named as the documentation names it, at the widths of terminals."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from stored_runs import EAGER
from typer.main import get_command

from launchlens.cli.main import app


def commands(path=(), command=None):
    command = command or get_command(app)
    children = getattr(command, "commands", {})
    yield path
    for name, child in children.items():
        yield from commands((*path, name), child)


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_help_names_what_one_types(cli, monkeypatch, path, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, said, err = cli(*path, "--help")
    assert (code, err) == (0, "")
    assert max(map(len, said.splitlines())) <= min(width, 100)
    assert not re.search(r"[<{](path|str|int|float|list|trace|out)\b", said)
    assert "[[" not in said
    for option in re.findall(r"^  (-.*?)(?:  |$)", said, re.MULTILINE):
        # a flag, or an option with what it takes in capitals
        assert re.fullmatch(r"-[-\w, /]+?( [A-Z][A-Za-z./,…-]*)?", option), option
    usage = said.partition("\n\n")[0]
    listed = re.search(r"Arguments:\n(.*?)\n\n", said, re.DOTALL)
    names = re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else []
    assert all(name in usage for name in names)


def test_the_list_of_commands_ends_no_sentence_halfway(cli):
    """80 columns hold the first sentence of every command."""
    said = cli("--help")[1]
    assert "..." not in said.partition("Commands:")[2]


def test_version_in_both_spellings(cli):
    assert cli("-V") == cli("--version")
    assert re.fullmatch(r"launchlens \d+\.\d+\.\d+\n", cli("-V")[1])


def test_quiet_leaves_out_notes_and_keeps_what_was_asked_for(cli, tmp_path):
    out = tmp_path / "report.md"
    limit = ("--fail-on", "launches>1")
    assert cli("analyze", EAGER, "-o", out, "-q") == (0, "", "")
    assert cli("analyze", EAGER, "-o", out) == (0, "", f"wrote {out}\n")
    code, _, err = cli("analyze", EAGER, "-o", out, "--quiet", *limit)
    assert (code, err.startswith("FAILED")) == (3, True)
    assert cli("analyze", EAGER, "-q")[1] == cli("analyze", EAGER)[1]
    assert "no such file" in cli("analyze", "missing.sqlite", "-q")[2]
    step = ("export", EAGER, "--perfetto", tmp_path / "step.json")
    assert cli(*step, "-q") == (0, "", "")
    assert cli(*step)[2] != ""


def test_every_command_can_be_quiet(cli):
    for path in commands():
        if path and path != ("runs",):
            assert "--quiet" in cli(*path, "--help")[1], path


def completed(line):
    """What the shell offers behind a line."""
    environment = {
        **os.environ,
        "_LAUNCHLENS_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    program = "import sys; sys.argv[0] = 'launchlens'; from launchlens.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("launchlens an", ["analyze"]),
        ("launchlens analyze --fo", ["--format"]),
        ("launchlens blockers --format ", ["terminal", "markdown", "html", "json"]),
        ("launchlens diff --fail-on graph_l", ["graph_launches"]),
        ("launchlens profile --variant ea", ["eager"]),
        ("launchlens profile --model gemma-4-E4", ["gemma-4-E4B"]),
        ("launchlens runs trend untr", ["untraced_ns"]),
        ("launchlens schema comp", ["comparison"]),
    ],
)
def test_completion_offers_what_there_is(line, offered):
    assert completed(line) == offered


def test_completion_offers_stored_runs(stored, monkeypatch):
    monkeypatch.setenv("LAUNCHLENS_RUNS", str(stored))
    found = completed("launchlens runs show 2026120")
    assert [run[:8] for run in found] == ["20261202", "20261201"]


def test_completion_of_runs_that_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv("LAUNCHLENS_RUNS", str(tmp_path / "none"))
    assert completed("launchlens runs show ") == ["latest"]
