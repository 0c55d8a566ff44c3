"""Turns at the GPU, with real processes."""

import subprocess
import sys
import time

PROGRAM = """
import sys, time
from launchlens.harness.turn import take_turn
notes = []
with take_turn(sys.argv[1], "cuda", notes):
    print("in", time.monotonic(), flush=True)
    time.sleep(float(sys.argv[2]))
    print("out", time.monotonic(), flush=True)
print("notes", len(notes), flush=True)
"""


def start(kind, seconds, folder):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, kind, str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
        env={"TMPDIR": str(folder), "PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin"},
    )
    process.stdout.readline()  # it holds its turn now, or waits for it below
    return process


def times(process):
    # Not communicate(): with a time limit it leaves out what readline() has read ahead.
    out = process.stdout.read()
    assert process.wait(timeout=30) == 0
    return out


def test_who_measures_is_alone(tmp_path):
    first = start("measure", 2, tmp_path)
    begun = time.monotonic()
    second = start("measure", 0, tmp_path)  # returns once the second is in
    assert time.monotonic() - begun >= 1.0
    assert "notes 1" in times(second)
    assert "notes 0" in times(first)


def test_builders_share(tmp_path):
    first = start("build", 30, tmp_path)
    second = start("build", 0, tmp_path)
    assert "notes 0" in times(second)
    first.kill()
    first.wait()


def test_a_killed_process_gives_its_turn_back(tmp_path):
    first = start("measure", 60, tmp_path)
    first.kill()
    first.wait()
    assert "out" in times(start("measure", 0, tmp_path))


def test_the_cpu_takes_no_turn(tmp_path, monkeypatch):
    from launchlens.harness.turn import take_turn

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with take_turn("measure", "cpu", []):
        pass
    assert list(tmp_path.iterdir()) == []
