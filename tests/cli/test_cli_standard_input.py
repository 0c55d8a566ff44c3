"""`-` is standard input, for traces and for reports, in every command that reads them."""

from __future__ import annotations

import io
import json
import lzma
import tempfile
from pathlib import Path

import pytest
from stored_runs import EAGER, NODE

DRY = ("--repo", "o/r", "--pr", "7", "--dry-run")


@pytest.fixture
def pipe(cli, monkeypatch, tmp_path):
    """Types a command into which bytes are piped; sees that nothing of them is left behind."""
    spool = tmp_path / "spool"
    spool.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spool))

    def type_in(data, *arguments):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
        returned = cli(*arguments)
        assert list(spool.iterdir()) == []
        return returned

    return type_in


def figures(report):
    return json.loads(report)["summary"]


@pytest.mark.parametrize("unpack", [bytes, lzma.decompress], ids=["compressed", "plain"])
def test_a_trace_has_the_figures_of_its_file(cli, pipe, unpack):
    code, out, err = pipe(unpack(EAGER.read_bytes()), "analyze", "-", "-f", "json")
    assert (code, err) == (0, "")
    assert figures(out) == figures(cli("analyze", EAGER, "-f", "json")[1])
    assert json.loads(out)["trace"]["label"] == "stdin"
    assert "launchlens-" not in out


def test_either_side_of_a_comparison(cli, pipe):
    changes = [
        [row["cells"][1]["change"] for row in json.loads(out)["phases"][0]["rows"]]
        for out in (
            cli("diff", EAGER, NODE, "-f", "json")[1],
            pipe(EAGER.read_bytes(), "diff", "-", NODE, "-f", "json")[1],
            pipe(NODE.read_bytes(), "diff", EAGER, "-", "-f", "json")[1],
        )
    ]
    assert changes[0] == changes[1] == changes[2]


def test_a_report_goes_from_one_command_to_the_next(cli, pipe, tmp_path):
    report = cli("diff", EAGER, NODE, "-f", "json")[1]
    code, out, err = pipe(report.encode(), "comment", "-", *DRY)
    assert (code, err) == (0, "")
    (tmp_path / "report.json").write_text(report, "utf-8")
    assert out == cli("comment", tmp_path / "report.json", *DRY)[1]


def test_the_other_commands(pipe, tmp_path):
    data = EAGER.read_bytes()
    budget = tmp_path / "budget.toml"
    budget.write_text('[models."*"]\nlaunches = 5000\n', "utf-8")
    assert pipe(data, "check", budget, "-") == (0, "stdin: 1 limit held\n", "")
    assert pipe(data, "blockers", "-")[0] == 0
    assert pipe(data, "blockers", EAGER, "-")[0] == 0
    assert pipe(data, "export", "-", "--parquet", tmp_path / "out")[0] == 0
    assert pipe(data, "scrub", "-", tmp_path / "copy.sqlite")[0] == 0
    assert pipe((tmp_path / "copy.sqlite").read_bytes(), "analyze", "-")[0] == 0


@pytest.mark.parametrize(
    ("data", "command", "code", "said"),
    [
        (b"", ("analyze", "-"), 1, "Standard input is empty."),
        (b"junk", ("analyze", "-"), 1, "standard input is not a trace in a format"),
        (EAGER.read_bytes()[:90_000], ("analyze", "-"), 1, "standard input is a damaged or trunc"),
        (b"{}", ("comment", "-", *DRY), 1, "standard input has schema 'none'"),
        (b"x", ("diff", "-", "-"), 2, "Standard input (-) can be read only once."),
    ],
)
def test_what_comes_in_may_be_wrong(pipe, data, command, code, said):
    returned, out, err = pipe(data, *command)
    assert (returned, out) == (code, "")
    assert err.startswith(f"launchlens: {said}")
    assert len(err.splitlines()) == 1
    assert "/spool/" not in err


def test_a_terminal_and_a_closed_input_are_told(fails, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert "Standard input is closed." in fails("analyze", "-")
    terminal = io.TextIOWrapper(io.BytesIO(b""))
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", terminal)
    assert "is a terminal. Pipe a file into it." in fails("analyze", "-", code=2)


def test_an_endless_input_ends(pipe, monkeypatch):
    monkeypatch.setattr("launchlens.cli.standard_input.MOST_BYTES", 2 << 20)
    code, _, err = pipe(bytes(3 << 20), "analyze", "-")
    assert (code, "Standard input is larger than" in err) == (1, True)


def test_a_full_disk_is_told(pipe, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", full)
    code, _, err = pipe(b"x", "analyze", "-")
    assert (code, "no space left on device. Set TMPDIR" in err) == (1, True)


def test_a_report_of_64_mib_is_too_large_here_too(pipe):
    code, _, err = pipe(b"{" + bytes(65 << 20), "comment", "-", *DRY)
    assert (code, "larger than 64 mib" in err) == (1, True)
