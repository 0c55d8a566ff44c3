"""`launchlens comment`: what is compared, what is posted, and when; against a local server."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from stored_runs import COMMIT, EAGER, NODE, make_run

from launchlens.forge import Job
from launchlens.forge.forges.github.job import read_job

sys.path.append(str(Path(__file__).parents[1] / "forge"))
from fake_github import HEAD, TOKEN, FakeGitHub

TARGET = ("--repo", "o/r", "--pr", "7")
DRY = ("comment", *TARGET, "--dry-run")
MARKER = "<!-- launchlens:comment:default -->"


@pytest.fixture(autouse=True)
def no_token(monkeypatch, tmp_path):
    """Nothing of the machine reaches a test: no token, no address, no gh."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "GH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.fixture
def server(monkeypatch):
    fake = FakeGitHub()
    monkeypatch.setenv("GITHUB_API_URL", fake.url)
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    yield fake
    fake.close()


@pytest.fixture(scope="module")
def one_run(tmp_path_factory):
    """A folder of runs with one, recorded at the commit that the server calls the head."""
    root = tmp_path_factory.mktemp("one") / "runs"
    make_run(root, commit=HEAD)
    return root


@pytest.fixture
def report(cli, tmp_path):
    """Writes a comparison as JSON, with further options of diff."""

    def write(*options, sides=(EAGER, NODE)):
        path = tmp_path / "report.json"
        cli("diff", *sides, "--format", "json", "-o", path, *options)
        return path

    return write


def test_dry_run_prints_and_needs_no_token(cli, report):
    code, out, err = cli(*DRY, report())
    assert (code, err) == (0, "")
    assert out.startswith(
        f"{MARKER}\n\n### Prefill step 6.3× faster (traced) · 1569 → 1 launches\n"
    )
    assert "| launches per step | 1569 | 1 |" in out
    assert "It is not known which commit was measured." in out


def test_traces_and_a_run_give_the_same_figures(cli, report, one_run):
    table = "| launches per step | 1569 | 1 | 🟢 −1568 (−99.94%) |"
    for named in ([report()], [EAGER, NODE], ["latest:eager", "latest:cudagraph"], ["latest"]):
        code, out, _ = cli(*DRY, *named, "--runs", one_run)
        assert code == 0
        assert table in out


def test_a_run_brings_untraced_times_requests_and_its_commit(cli, stored):
    _, out, _ = cli(*DRY, "20261130", "--runs", stored)
    assert f"Measured at `{COMMIT[:7]}`." in out
    assert "| step, untraced | 47.4 ms | 4.67 ms | 🟢 10× faster" in out
    assert "| 1 | cudagraph | 4.97 ms |" in out
    assert "<summary>Suspected in eager, though a variant was captured</summary>" in out


def test_changed_files_and_failures_are_told(cli, stored):
    _, out, _ = cli(*DRY, "20261201", "--runs", stored)
    assert "Measured with files changed that are not in `bbbbbbb`." in out
    assert "breakable" in out
    assert "modeling.py" in out


def test_a_named_commit_wins_and_a_contradiction_is_told(cli, stored):
    _, out, err = cli(*DRY, "20261130", "--commit", "0123456789", "--runs", stored)
    assert "Measured at `0123456`." in out
    assert "--commit says 0123456, the run says it was recorded at abc123def456" in err
    _, _, err = cli(*DRY, "20261130", "--commit", COMMIT, "--runs", stored)
    assert err == ""


def test_an_empty_commit_is_none(cli, stored):
    """As the action passes it on where none was given."""
    _, out, err = cli(*DRY, "20261130", "--commit", "", "--runs", stored)
    assert f"Measured at `{COMMIT[:7]}`." in out
    assert err == ""


def test_created_then_updated(cli, server, one_run):
    command = ("comment", *TARGET, "--key", "qwen", "latest", "--runs", one_run)
    code, out, err = cli(*command)
    assert (code, err) == (0, "")
    assert out == "created https://example.test/o/r/pull/7#issuecomment-100\n"
    (body,) = server.bodies()
    assert body.startswith("<!-- launchlens:comment:qwen -->\n")
    assert f"Measured at `{HEAD[:7]}`, the pull request's head." in body
    assert TOKEN not in body
    assert cli(*command)[1].startswith("unchanged ")
    code, out, _ = cli(*command, "--commit", "abc123d")
    assert out.startswith("updated ")
    (body,) = server.bodies()
    assert "Measured at `abc123d`; the head is now `def4560`: measure again." in body


def test_posted_before_a_threshold_fails(cli, server, report):
    path = report()
    code, out, err = cli("comment", *TARGET, path, "--fail-on", "kernels>+0")
    assert code == 3
    assert out.startswith("created ")
    assert err.startswith("FAILED: kernels>+0 (qwen3-0.6b-cudagraph, prefill)")
    (body,) = server.bodies()
    assert "❌ FAILED" in body


def test_a_dry_run_fails_by_thresholds_too(cli, report):
    path = report()
    assert cli(*DRY, path, "--fail-on", "launches>+0")[0] == 0
    assert cli(*DRY, path, "--fail-on", "launches>0")[0] == 3


def test_blockers_in_a_report_count_only_if_they_were_looked_for(cli, fails, report):
    condition = ("--fail-on", "blockers:suspected")
    path = report(sides=(NODE, EAGER))
    assert "does not tell whether capture blockers" in fails(*DRY, path, *condition, code=2)
    path = report(*condition, sides=(NODE, EAGER))
    code, out, err = cli(*DRY, path, *condition)
    assert code == 3
    assert "FAILED: blockers:suspected (qwen3-0.6b-eager)" in err
    assert "Capture blockers were looked for" in out
    path = report(*condition)
    assert cli(*DRY, path, *condition)[0] == 0
    assert cli(*DRY, EAGER, NODE, *condition)[0] == 0
    assert cli(*DRY, NODE, EAGER, *condition)[0] == 3


def test_no_token_is_told_before_work(fails, report, tmp_path):
    assert "There is no token" in fails("comment", *TARGET, tmp_path / "none.json", code=2)


def test_a_refused_token_is_not_printed(fails, server, report, monkeypatch):
    path = report()
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_wrong")
    said = fails("comment", *TARGET, path)
    assert "the token was refused" in said
    assert "ghs_wrong" not in said
    assert server.bodies() == []


def test_what_cannot_be_compared(cli, fails, report, stored, tmp_path):
    analysis = tmp_path / "analysis.json"
    cli("analyze", NODE, "--format", "json", "-o", analysis)
    assert "holds no comparison" in fails(*DRY, analysis, code=2)
    assert "Give it alone" in fails(*DRY, report(), NODE, code=2)
    assert "nothing to be compared with" in fails(*DRY, NODE, code=2)
    assert "nothing to be compared with" in fails(*DRY, "latest:eager", "--runs", stored, code=2)
    assert "no such file, and no stored run" in fails(*DRY, "nope", "--runs", stored)
    assert "no such file" in fails(*DRY, tmp_path / "none.json")
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe")
    assert "is not a launchlens report" in fails(*DRY, tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text(json.dumps({"schema": "other"}))
    assert "has schema 'other'" in fails(*DRY, tmp_path / "bad.json")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (("--repo", "o", "--pr", "7"), "'o' is no repository. Write owner/name."),
        (("--repo", "o/r", "--pr", "0"), "0 is no number of a pull request."),
        (("--pr", "7"), "No repository is named to comment on."),
        (("--repo", "o/r"), "No pull request is named to comment on."),
    ],
)
def test_what_is_no_pull_request(fails, target, said):
    assert said in fails("comment", *target, NODE, EAGER, code=2)


def test_a_dry_run_needs_no_repository(cli, report):
    code, out, err = cli("comment", "--dry-run", report())
    assert (code, err) == (0, "")
    assert out == cli(*DRY, report())[1]


def test_a_report_is_told_by_its_content(cli, fails, report, tmp_path):
    named = tmp_path / "numbers.txt"
    named.write_bytes(report().read_bytes())
    assert cli(*DRY, named)[1] == cli(*DRY, report())[1]
    trace = tmp_path / "trace.json"
    trace.write_bytes(EAGER.read_bytes())
    assert cli(*DRY, trace, NODE)[0] == 0
    assert "is a report, a whole comparison" in fails(*DRY, named, report(), code=2)


@pytest.fixture
def job(monkeypatch, tmp_path):
    """GitHub Actions, as it tells a job of a pull request that it built a merge of its own."""

    def start(event, **more):
        path = tmp_path / "event.json"
        path.write_text(json.dumps(event))
        told = {"GITHUB_REPOSITORY": "o/r", "GITHUB_EVENT_PATH": str(path), "GITHUB_SHA": "e" * 40}
        for name, value in (told | more).items():
            monkeypatch.setenv(name, value)

    return start


def test_in_a_job_repository_pull_request_and_commit_are_known(cli, server, report, job):
    job({"pull_request": {"number": 7, "head": {"sha": HEAD}}})
    code, out, err = cli("comment", report())
    assert (code, err) == (0, "")
    assert out.startswith("created https://example.test/o/r/pull/7#")
    (body,) = server.bodies()
    assert f"Measured at `{HEAD[:7]}`, the pull request's head." in body


def test_a_run_of_the_merge_that_a_job_built_is_of_the_head(cli, stored, tmp_path, job):
    job({"pull_request": {"number": 7, "head": {"sha": HEAD}}}, GITHUB_SHA=COMMIT)
    out = cli("comment", "--dry-run", "20261130", "--runs", stored)[1]
    assert f"Measured at `{HEAD[:7]}`." in out
    # Another pull request's job tells nothing of this one, and a run of another commit its own.
    out = cli("comment", "--dry-run", "--pr", "8", "20261130", "--runs", stored)[1]
    assert f"Measured at `{COMMIT[:7]}`." in out
    job({}, GITHUB_SHA="f" * 40)
    out = cli("comment", "--dry-run", "20261130", "--runs", stored)[1]
    assert f"Measured at `{COMMIT[:7]}`." in out


@pytest.mark.parametrize(
    ("event", "more", "number"),
    [
        ({"issue": {"number": 9, "pull_request": {}}}, {}, 9),
        ({"issue": {"number": 9}}, {}, None),
        ({"workflow_run": {"pull_requests": [{"number": 4}], "head_sha": HEAD}}, {}, 4),
        ({}, {"GITHUB_REF": "refs/pull/5/merge"}, 5),
        ([1], {"GITHUB_REF": "refs/heads/main"}, None),
    ],
)
def test_the_number_in_events_of_other_kinds(job, event, more, number):
    job(event, **more)
    assert read_job().number == number


def test_an_event_that_cannot_be_read_tells_nothing(job, tmp_path):
    job({})
    (tmp_path / "event.json").write_text("{")
    assert read_job() == Job("o/r", None, "e" * 40, "e" * 40)
