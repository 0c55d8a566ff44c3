"""`launchlens doctor`: a line for each check as it is done, what to do, and the exit code."""

from __future__ import annotations

import json

import pytest

from launchlens import capture
from launchlens.records.doctor import Check
from launchlens.trace import read_trace

GOOD = [
    Check("GPU and driver", "ok", "NVIDIA H200, 140 GiB, driver 580.159"),
    Check("disk space", "warn", "1.0 GiB free at /data", "Free some."),
    Check("tracing trial", "skip", "not asked for"),
]
BAD = Check("nsys", "fail", "nsys is not installed", "Install Nsight Systems " + "or " * 40)


@pytest.fixture
def found(monkeypatch):
    """Checks that the machine is to have; records what was asked."""
    checks, asked = list(GOOD), {}

    def check_environment(read_trial, *, on_check=None, **how):
        asked.update(how, read_trial=read_trial)
        for check in checks:
            if on_check:
                on_check(check)
        return checks

    monkeypatch.setattr(capture, "check_environment", check_environment)
    return checks, asked


def test_a_good_machine(cli, found):
    code, out, _ = cli("doctor")
    assert code == 0
    assert out.splitlines() == [
        "ok    GPU and driver: NVIDIA H200, 140 GiB, driver 580.159",
        "warn  disk space: 1.0 GiB free at /data",
        "      → Free some.",
        "skip  tracing trial: not asked for",
        "      → nothing to do",
        "",
        "Ready to profile, with 1 warning.",
    ]


def test_a_failed_check_ends_with_1(cli, found):
    checks, _ = found
    checks.insert(1, BAD)
    code, out, _ = cli("doctor")
    assert code == 1
    assert out.endswith("\nNot ready to profile: 1 of 4 checks failed.\n")
    assert max(map(len, out.splitlines())) <= 80


def test_json(cli, found):
    checks, _ = found
    checks.append(BAD)
    code, out, _ = cli("doctor", "--format", "json")
    report = json.loads(out)
    assert code == 1
    assert (report["schema"], report["ready"]) == ("launchlens.doctor/1", False)
    assert [c["name"] for c in report["checks"]] == [c.name for c in checks]
    assert report["checks"][-1]["remedy"] == BAD.remedy


def test_options_reach_the_checks(cli, found, tmp_path):
    _, asked = found
    cli("doctor", "--no-trial", "--nsys", tmp_path / "nsys", "--runs", tmp_path)
    asked_for = {"nsys": tmp_path / "nsys", "folder": tmp_path, "timeout_s": 120.0}
    assert asked == {"read_trial": None, **asked_for}
    cli("doctor")
    assert asked["read_trial"] is read_trace


def test_this_machine_for_real(cli, monkeypatch, tmp_path):
    monkeypatch.setattr("launchlens.capture.doctor.gpu_facts", lambda: None)
    code, out, _ = cli("doctor", "--no-trial", "--nsys", tmp_path / "nowhere")
    assert code == 1
    assert "fail  GPU and driver: NVML, the driver's library, is missing or sees no GPU" in out
    assert "fail  nsys: " in out
    failed = sum(line.startswith("fail  ") for line in out.splitlines())  # torch too, where none is
    assert f"Not ready to profile: {failed} of " in out
