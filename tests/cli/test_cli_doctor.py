"""`launchlens doctor`: a line for each check as it is done, what to do, and the exit code."""

from __future__ import annotations

import json
import os
import stat

import pytest

from launchlens import capture
from launchlens.capture import Check

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

    def check_environment(*, on_check=None, **how):
        asked.update(how)
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
        "Ready to profile, with 1 to look at.",
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
    assert asked == {"trial": False, "nsys": tmp_path / "nsys", "folder": tmp_path}
    cli("doctor")
    assert asked["trial"] is True


def test_this_machine_for_real(cli, monkeypatch, tmp_path):
    smi = tmp_path / "nvidia-smi"
    smi.write_text("#!/bin/sh\nexit 9\n")
    smi.chmod(smi.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    code, out, _ = cli("doctor", "--no-trial", "--nsys", tmp_path / "nowhere")
    assert code == 1
    assert "fail  GPU and driver: nvidia-smi is missing or sees no GPU" in out
    assert "fail  nsys: " in out
    assert "Not ready to profile: 2 of " in out
