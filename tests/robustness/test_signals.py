"""However a command is ended: nothing stays in TMPDIR, no part file, no process."""

from __future__ import annotations

import contextlib
import lzma
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "traces/gemma-4-e4b-eager.nsys2025.3.sqlite.xz"
BOTH = [signal.SIGTERM, signal.SIGHUP]

# nsys starts its agent in a session of its own and traces the program in another one.
NSYS = """#!/bin/sh
case "$1" in
  --version) echo "NVIDIA Nsight Systems version 2025.3.1.90-253135822126v0" ;;
  profile) shift; while [ "${1#-}" != "$1" ]; do shift; done
    (setsid sleep TAG &) ; setsid "$@" & wait ;;
esac
"""


def default_signals():
    """In a child: whoever runs the tests may ignore signals."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)


def start(folder, *command, **more):
    temporary = folder / "tmp"
    temporary.mkdir()
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)} | more,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,  # noqa: PLW1509
    )


def wait_for(condition, limit_s=60.0):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def sleeping(tag):
    """Ids of processes that were given ``tag`` as an argument."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if tag.encode() in (folder / "cmdline").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


@pytest.fixture
def long_trace(tmp_path):
    """A trace that takes seconds to unpack: a real one, then zeros that hardly compress at all."""
    path = tmp_path / "long.sqlite.xz"
    with lzma.open(TRACE) as source, lzma.open(path, "wb", preset=0) as out:
        shutil.copyfileobj(source, out)
        for _ in range(40):
            out.write(os.urandom(1 << 20))
    return path


@pytest.mark.parametrize("number", BOTH)
def test_an_unpacked_trace_goes(tmp_path, long_trace, number):
    process = start(tmp_path, "-m", "launchlens", "analyze", long_trace)
    wait_for(lambda: list((tmp_path / "tmp").glob("*/trace")))
    process.send_signal(number)
    out, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert said == f"launchlens: ended by {number.name}\n"
    assert out == ""
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("number", BOTH)
def test_no_part_of_a_scrubbed_copy_stays(tmp_path, number):
    process = start(tmp_path, "-m", "launchlens", "scrub", TRACE, "out.sqlite.xz")
    wait_for(lambda: list(tmp_path.glob(".out*.part")))
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert {p.name for p in tmp_path.iterdir()} == {"tmp"}
    assert list((tmp_path / "tmp").iterdir()) == []


def test_nohup_stays_in_force(tmp_path):
    process = start(
        tmp_path,
        "-c",
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "sys.argv = ['launchlens', 'models'];"
        "from launchlens.cli.main import main\n"
        "try:\n    main()\n"
        "finally:\n    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN",
    )
    process.communicate(timeout=60)
    assert process.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, *BOTH])
def test_what_a_run_started_ends_with_it(tmp_path, number):
    tag = f"4444.{number:03}"
    nsys = tmp_path / "nsys"
    nsys.write_text(NSYS.replace("TAG", tag))
    nsys.chmod(0o755)
    code = f"""
        from pathlib import Path
        from launchlens.capture import Tracing, find_nsys, record
        record(find_nsys(Path({str(nsys)!r})), ["sleep", {tag!r}], Tracing(),
               output=Path({str(tmp_path / "out")!r}), log=Path({str(tmp_path / "log")!r}))
    """
    process = start(tmp_path, "-c", textwrap.dedent(code))
    wait_for(lambda: len(sleeping(tag)) >= 2)
    process.send_signal(number)
    process.communicate(timeout=60)
    wait_for(lambda: sleeping(tag) == [])
