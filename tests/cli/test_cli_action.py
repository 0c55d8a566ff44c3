"""The action's scripts call `diff` and `comment` as these commands want to be called."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="needs PyYAML")
sys.path.append(str(Path(__file__).parents[1] / "forge"))
from fake_github import TOKEN, FakeGitHub
from stored_runs import COMMIT
from test_action import outputs, run_step

from launchlens import store

THRESHOLDS = "launches>+0\nblockers\n"


@pytest.fixture
def server():
    fake = FakeGitHub()
    yield fake
    fake.close()


def compare(tmp_path, stored, fail_on=THRESHOLDS):
    run = store.resolve_run(stored, "20261130")
    sides = {"BASELINE": f"{run.folder}:eager", "CANDIDATES": f"{run.folder}:cudagraph\n"}
    done = run_step("Compare", tmp_path, **sides, FAIL_ON=fail_on, PHASE="all")
    assert done.returncode == 0, done.stderr
    return outputs(tmp_path)


def comment(tmp_path, server, said, monkeypatch, fail_on=THRESHOLDS, **changes):
    env = {
        "GITHUB_TOKEN": TOKEN,
        "REPORT": said["json"],
        "REPOSITORY": "o/r",
        "PULL_REQUEST": "7",
        "KEY": "default",
        "COMMIT": "",
        "FAIL_ON": fail_on,
    }
    monkeypatch.setattr("test_action.script", with_address(server.url))
    return run_step("Comment", tmp_path, **env | changes)


def with_address(url):
    """The action's steps, with the address of the local server in front of their scripts."""
    from test_action import ACTION

    def script(name):
        step = next(s for s in ACTION["runs"]["steps"] if s["name"] == name)
        return step | {"run": f"export GITHUB_API_URL={url}\n{step['run']}"}

    return script


def test_runs_are_compared_and_commented_with_their_own_commit(
    tmp_path, stored, server, monkeypatch
):
    said = compare(tmp_path, stored)
    assert said["passed"] == "true"
    done = comment(tmp_path, server, said, monkeypatch)
    assert done.returncode == 0, done.stderr
    (body,) = server.bodies()
    assert f"Measured at `{COMMIT[:7]}`; the head is now `def4560`: measure again." in body
    assert "✅ held" in body


def test_a_commit_can_be_named(tmp_path, stored, server, monkeypatch):
    said = compare(tmp_path, stored)
    comment(tmp_path, server, said, monkeypatch, COMMIT="def456" + "0" * 34)
    assert "Measured at `def4560`, the pull request's head." in server.bodies()[0]


def test_a_failed_threshold_is_posted_and_left_to_the_last_step(
    tmp_path, stored, server, monkeypatch
):
    said = compare(tmp_path, stored, "kernels>+0\n")
    assert said["passed"] == "false"
    done = comment(tmp_path, server, said, monkeypatch, "kernels>+0\n")
    assert done.returncode == 0, done.stderr
    assert "❌ FAILED" in server.bodies()[0]


def test_a_comment_that_cannot_be_posted_fails(tmp_path, stored, server, monkeypatch):
    said = compare(tmp_path, stored)
    done = comment(tmp_path, server, said, monkeypatch, GITHUB_TOKEN="wrong")
    assert done.returncode == 1
    assert "the token was refused" in done.stderr
