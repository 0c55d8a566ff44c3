"""The whole way with a real nsys on any machine: NVTX needs no GPU."""

from __future__ import annotations

import contextlib
import sqlite3
import sys

import pytest
from capture_fakes import running, wait_for

from launchlens.capture import ChildTimeoutError, Tracing, export_sqlite, record
from launchlens.capture.trial import TRIAL_RANGES, run_trial
from launchlens.errors import CaptureError
from launchlens.trace import read_trace

pytestmark = pytest.mark.nsys

# nvtx 0.2.12 and newer believes that no tool listens where nsys is old: see capture/trial.py.
PROGRAM = """
import sys, nvtx
from nvtx._lib import lib
domain = nvtx.get_domain("launchlens")
if not hasattr(domain, "handle"):
    domain = object.__new__(lib.Domain)
    domain.handle = lib.DomainHandle("launchlens")
    domain.__init__("launchlens")
for i in range(5):
    domain.push_range(domain.get_event_attributes(message="prefill", payload=i))
    domain.pop_range()
print("five steps")
sys.exit(int(sys.argv[1]))
"""


def rows(path, query):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        return database.execute(query).fetchall()


def nvtx_only(nsys, tmp_path, program, **options):
    return record(
        nsys,
        program,
        Tracing(cuda=False),
        output=tmp_path / "qwen3-0.6b.eager",
        log=tmp_path / "eager.log",
        **options,
    )


@pytest.mark.parametrize("code", [0, 3])
def test_ranges_come_out(real_nsys, tmp_path, code):
    done = nvtx_only(real_nsys, tmp_path, [sys.executable, "-c", PROGRAM, str(code)])
    steps = rows(
        done.sqlite,
        "SELECT coalesce(text, value), int64Value FROM NVTX_EVENTS "
        "LEFT JOIN StringIds ON id = textId WHERE eventType = 59 ORDER BY start",
    )
    assert steps == [("prefill", i) for i in range(5)]
    assert done.program_exit_code == code
    assert done.log.read_text() == "five steps\n"
    assert done.report.stat().st_size > 0
    assert not list(tmp_path.glob("*.qdstrm"))
    again = export_sqlite(done.report, tmp_path / "again/x.sqlite", real_nsys)
    assert rows(again, "SELECT count(*) FROM NVTX_EVENTS WHERE eventType = 59") == [(5,)]


def test_what_the_program_prints_stays_out_of_the_trace(real_nsys, tmp_path):
    done = nvtx_only(real_nsys, tmp_path, [sys.executable, "-c", PROGRAM, "0"])
    assert b"five steps\n" not in done.sqlite.read_bytes()


def test_no_capture_range_without_a_gpu(real_nsys, tmp_path):
    """Real nsys leaves no report when cudaProfilerStart is never called."""
    with pytest.raises(CaptureError, match="never called cudaProfilerStart"):
        record(real_nsys, ["true"], Tracing(), output=tmp_path / "a", log=tmp_path / "a.log")


def test_a_failing_program(real_nsys, tmp_path):
    program = [sys.executable, "-c", "raise SystemExit('no such model')"]
    with pytest.raises(CaptureError, match=r"exit code 1 before .*: no such model"):
        record(real_nsys, program, Tracing(), output=tmp_path / "a", log=tmp_path / "a.log")


def test_time_out_ends_nsys_and_its_agent(real_nsys, tmp_path):
    tag = "4444.0625"
    before = set(running("--start-agent"))
    with pytest.raises(ChildTimeoutError):
        nvtx_only(real_nsys, tmp_path, ["sleep", tag], timeout_s=2)
    wait_for(lambda: not running(tag))
    assert set(running("--start-agent")) <= before


def test_a_broken_report_is_refused(real_nsys, tmp_path):
    report = tmp_path / "broken.nsys-rep"
    report.write_bytes(b"not a report" * 100)
    with pytest.raises(CaptureError, match="could not export"):
        export_sqlite(report, tmp_path / "x.sqlite", real_nsys)


def test_trial(real_nsys):
    trial = run_trial(real_nsys, read_trace, python=sys.executable, gpu=False)
    assert (trial.ranges, trial.kernels) == (TRIAL_RANGES, None)
