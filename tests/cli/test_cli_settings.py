"""`launchlens.toml`: what holds in a folder until the command line says otherwise."""

from __future__ import annotations

import json

import pytest
from stored_runs import EAGER, NODE, make_run


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """Writes the settings of the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAUNCHLENS_SETTINGS", raising=False)
    monkeypatch.delenv("NSYS", raising=False)

    def write(text):
        (tmp_path / "launchlens.toml").write_text(f"[settings]\n{text}\n", encoding="utf-8")

    return write


def test_format_command_line_before_suffix_before_settings(cli, settings, tmp_path):
    settings('format = "json"')
    assert json.loads(cli("analyze", EAGER)[1])["schema"].startswith("launchlens.analysis")
    assert cli("analyze", EAGER, "-f", "csv")[1].startswith("index,")
    cli("analyze", EAGER, "-o", "report.csv")
    assert (tmp_path / "report.csv").read_text("utf-8").startswith("index,")
    cli("analyze", EAGER, "-o", "report")
    assert json.loads((tmp_path / "report").read_text("utf-8"))


def test_a_format_that_a_command_has_not_is_left_to_those_that_have(cli, settings):
    settings('format = "csv"')
    assert cli("models")[1].startswith("name ")
    assert cli("analyze", EAGER)[1].startswith("index,")


def test_a_page_is_for_pipes_and_files_alone(cli, settings, monkeypatch):
    settings('format = "html"')
    assert cli("analyze", EAGER)[1].lower().startswith("<!doctype html>")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    assert cli("analyze", EAGER)[1].startswith("qwen3-0.6b-eager")


def test_runs_command_line_before_environment_before_settings(cli, settings, tmp_path, monkeypatch):
    for day, name in enumerate(("a", "b", "c")):
        make_run(tmp_path / name, day=day)
    settings('runs = "a"')
    assert "20261130" in cli("runs", "list")[1]
    assert cli("diff", "latest:eager", NODE)[0] == 0
    monkeypatch.setenv("LAUNCHLENS_RUNS", "b")
    assert "20261201" in cli("runs", "list")[1]
    assert "20261202" in cli("runs", "list", "--runs", "c")[1]


def test_step_is_the_pattern_of_steps(cli, fails, settings):
    settings("step = '^no such range$'")
    assert "no range matches --step '^no such range$'" in fails("analyze", EAGER)
    assert cli("analyze", EAGER, "--step", "^prefill")[0] == 0
    assert "no range matches" in fails("export", EAGER, "--parquet", "out")


def test_nsys_command_line_before_environment_before_settings(
    fails, settings, tmp_path, monkeypatch
):
    report = tmp_path / "x.nsys-rep"
    report.write_bytes(b"made up")
    settings('nsys = "tools/nsys"')
    assert "tools/nsys, named by" in fails("analyze", report)
    monkeypatch.setenv("NSYS", "other/nsys")
    assert "other/nsys, named by $NSYS" in fails("analyze", report)
    assert "third/nsys, named by" in fails("analyze", report, "--nsys", "third/nsys")


def test_another_file_or_none(cli, settings, tmp_path, monkeypatch):
    """Paths count from the file's own folder."""
    settings('format = "csv"')
    other = tmp_path / "deep" / "mine.toml"
    other.parent.mkdir()
    other.write_text('[settings]\nruns = "kept"\n', "utf-8")
    make_run(other.parent / "kept")
    monkeypatch.setenv("LAUNCHLENS_SETTINGS", str(other))
    assert "20261130" in cli("runs", "list")[1]
    monkeypatch.setenv("LAUNCHLENS_SETTINGS", "")
    assert cli("analyze", EAGER)[1].startswith("qwen3-0.6b-eager")


def test_verbose_and_doctor_tell_where_they_came_from(cli, settings):
    settings('format = "markdown"\nruns = "kept"')
    code, _, err = cli("analyze", EAGER, "-v")
    assert (code, err) == (0, "settings of launchlens.toml: format = markdown, runs = kept\n")
    assert cli("analyze", EAGER, "-v", "-q")[2] == ""
    said = cli("doctor", "--no-trial", "-f", "terminal")[1]
    assert "launchlens.toml: format = markdown, runs = kept" in " ".join(said.split())
    settings("")
    assert "settings" not in cli("doctor", "--no-trial")[1]


def test_the_same_file_holds_limits(cli, settings, tmp_path):
    settings('format = "json"\n[models."*"]\nlaunches = 5000')
    code, out, _ = cli("check", "launchlens.toml", EAGER)
    assert (code, json.loads(out)["held"]) == (0, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('fromat = "json"', "settings.fromat is unknown. Did you mean format?"),
        ('verbose = "yes"', "settings.verbose is unknown. There are format, runs, nsys, step."),
        ('format = "jsno"', "there is no format jsno. Did you mean json?"),
        ('format = "docx"', "Formats are terminal, markdown, html, json, csv."),
        ("runs = 3", "settings.runs is 3. Write text in quotes."),
        ('step = ""', "settings.step is ''."),
        ("[setings]", "setings is unknown. Did you mean settings?"),
        ("format = ", "are no valid TOML"),
        ("step = '['", "--step"),
    ],
)
def test_what_is_wrong_is_told(fails, settings, text, said):
    settings(text)
    assert said in fails("analyze", EAGER, code=2)


def test_help_is_there_whatever_the_file_says(cli, settings):
    settings("format = ")
    assert cli("--help")[0] == cli("diff", "--help")[0] == cli("-V")[0] == 0


def test_the_export_of_a_report_has_a_limit(fails, settings, tmp_path):
    """An nsys, made up, that never ends."""
    settings("")
    nsys = tmp_path / "nsys"
    nsys.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "NVIDIA Nsight Systems version 2025.3.2.474"; fi\n'
        'if [ "$1" = export ] && [ "$2" != --help ]; then exec sleep 60; fi\n',
        "utf-8",
    )
    nsys.chmod(0o755)
    report = tmp_path / "x.nsys-rep"
    report.write_bytes(b"made up")
    for command in (
        ["analyze", report],
        ["diff", report, EAGER],
        ["export", report, "--parquet", "o"],
    ):
        said = fails(*command, "--nsys", nsys, "--timeout", 1)
        assert f"could not export {report}: " in said
        assert "1 s" in said
