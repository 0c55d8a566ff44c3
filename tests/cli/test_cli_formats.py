"""`--format`: every command offers what there are writers for, and refuses the rest."""

from __future__ import annotations

import pytest
from stored_runs import EAGER

from launchlens.render import names_for

COMMANDS = {
    "analysis": (["analyze"], [EAGER]),
    "comparison": (["diff"], [EAGER, EAGER]),
    "blockers": (["blockers"], [EAGER]),
    "runs": (["runs", "list"], []),
    "run": (["runs", "show"], ["latest"]),
    "trend": (["runs", "trend"], ["launches"]),
    "limits": (["check"], ["launchlens.toml", EAGER]),
    "models": (["models"], []),
    "doctor": (["doctor"], ["--no-trial"]),
}
MARKS = {"md": "\n| ", "html": "<!doctype html>", "json": '"schema": ', "csv": "index,", "txt": ""}
"""What the beginning of a file of each suffix has, and text for a terminal has not."""


@pytest.mark.parametrize("kind", COMMANDS)
def test_help_and_refusal_name_the_formats_of_the_kind(cli, kind):
    command, arguments = COMMANDS[kind]
    names = names_for(kind)
    assert names[0] == "terminal"
    assert "json" in names
    said = " ".join(cli(*command, "--help")[1].split())
    assert "--format FORMAT" in said
    assert f"{', '.join(names[:-1])} or {names[-1]}; else what the suffix" in said
    code, out, err = cli(*command, *arguments, "--format", "docx")
    assert (code, out) == (2, "")
    assert "'docx' is not one of 'terminal', 'markdown'" in " ".join(err.split())


@pytest.mark.parametrize("kind", COMMANDS)
def test_what_help_offers_is_written(cli, kind, tmp_path, stored, monkeypatch):
    """A format that help lists is one that the command writes, by --format and by suffix alike."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "launchlens.toml").write_text('[models."*"]\nlaunches = 5000\n', "utf-8")
    command, arguments = COMMANDS[kind]
    if command[0] in ("runs", "doctor"):
        arguments = [*arguments, "--runs", stored]
    for name in names_for(kind):
        code, out, err = cli(*command, *arguments, "--format", name)
        assert (code, bool(out)) == (1 if kind == "doctor" else 0, True), err


def beginning(path):
    return path.read_text("utf-8")[:2000].lower()


@pytest.mark.parametrize("suffix", MARKS)
def test_the_suffix_of_the_file_chooses_the_format(cli, tmp_path, suffix):
    out = tmp_path / f"Report.{suffix.upper()}"
    code, printed, err = cli("analyze", EAGER, "-o", out)
    assert (code, printed, err) == (0, "", f"wrote {out}\n")
    assert [mark for mark in MARKS.values() if mark and mark in beginning(out)] == [
        mark for mark in (MARKS[suffix],) if mark
    ]
    if suffix == "txt":
        assert out.read_text("utf-8") == cli("analyze", EAGER)[1]
    # the same format may be named too, and a suffix that means none leaves the choice to it
    other = tmp_path / "report.out"
    assert cli("analyze", EAGER, "-o", other, "-f", suffix)[0] == 0
    assert other.read_bytes() == out.read_bytes()


def test_a_suffix_and_a_format_that_disagree_are_refused(fails, tmp_path):
    out = tmp_path / "report.html"
    said = fails("diff", EAGER, EAGER, "-o", out, "--format", "json", code=2)
    assert said.endswith(
        f"{out} is the name of a html file, and --format says json. "
        "Leave out --format, or name the file otherwise.\n"
    )
    said = fails("blockers", EAGER, "-o", tmp_path / "report.csv", code=2)
    assert "is the name of a csv file, and this report has no such form." in said
    assert "It can be terminal, markdown, html, json." in said
    assert list(tmp_path.iterdir()) == []


def test_md_is_markdown(cli):
    assert cli("models", "-f", "md") == cli("models", "--format", "markdown")


def test_a_page_does_not_go_to_a_terminal(fails, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    said = fails("analyze", EAGER, "-f", "html", code=2)
    assert said == ("launchlens: A terminal cannot show html. Name a file: --output report.html.\n")


def test_a_page_goes_into_a_pipe(cli):
    assert cli("analyze", EAGER, "-f", "html", "-o", "-")[1].lower().startswith("<!doctype html>")
    assert cli("analyze", EAGER, "-f", "html")[1].lower().startswith("<!doctype html>")


def test_a_file_that_cannot_be_written_is_refused_before_any_work(fails, tmp_path):
    """The trace that is named is not even looked for."""
    out = tmp_path / "no" / "report.md"
    for command in (["analyze", "missing.sqlite"], ["diff", "missing", "missing"]):
        assert "there is no folder" in fails(*command, "-o", out)
