from __future__ import annotations

import signal
import subprocess
import sys
import textwrap

import pytest
from capture_fakes import running, wait_for, write_script

from launchlens.capture import ChildTimeoutError, Tracing, find_nsys, record, run_plain
from launchlens.capture.logs import clean_log, describe_exit
from launchlens.capture.process import read_output
from launchlens.errors import CaptureError

IMPORTER = """#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in -i) in=$2 ;; -o) out=$2 ;; esac; shift; done
sed s/raw/report/ "$in" >"$out"
"""


def sh(script):
    return ["/bin/sh", "-c", script]


@pytest.fixture
def go(tmp_path, make_nsys):
    def run(program, *, fake=None, **options):
        return record(
            find_nsys(make_nsys(**(fake or {}))),
            program,
            Tracing(),
            output=tmp_path / "run/qwen3-0.6b",
            log=tmp_path / "run/variant.log",
            **options,
        )

    return run


def test_a_recording(go, tmp_path):
    done = go(sh("echo working; echo trouble >&2"))
    assert done.report == tmp_path / "run/qwen3-0.6b.nsys-rep"
    assert done.sqlite == tmp_path / "run/qwen3-0.6b.sqlite"
    assert done.sqlite.read_text() == "report\n"
    assert (done.exit_code, done.program_exit_code, done.importer_used) == (0, 0, False)
    assert done.log.read_text() == "working\ntrouble\n"
    assert done.command[-3:] == ("/bin/sh", "-c", "echo working; echo trouble >&2")
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {
        "qwen3-0.6b.nsys-rep",
        "qwen3-0.6b.sqlite",
        "variant.log",
        "variant.nsys.log",
    }


def test_environment_and_folder_reach_the_program(go, tmp_path, monkeypatch):
    monkeypatch.setenv("COLOUR", "green")
    monkeypatch.chdir(tmp_path)
    done = go(sh('echo "$COLOUR $PWD"'))
    assert done.log.read_text() == f"green {tmp_path}\n"


def test_only_a_raw_recording_came_out(go, tmp_path):
    """What Debian's nsys does: it finds no importer, leaves a .qdstrm and exits 0."""
    write_script(tmp_path / "host-linux-x64/QdstrmImporter", IMPORTER)
    fake = {"profile": '"$@"; echo raw >"$out.qdstrm"', "path": "target-linux-x64/nsys"}
    done = go(sh("exit 0"), fake=fake)
    assert done.importer_used
    assert done.sqlite.read_text() == "report\n"
    assert not (tmp_path / "run/qwen3-0.6b.qdstrm").exists()


def test_a_raw_recording_without_importer_is_kept(go, tmp_path):
    with pytest.raises(CaptureError, match="only the raw recording"):
        go(sh("exit 0"), fake={"profile": '"$@"; echo raw >"$out.qdstrm"'})
    assert (tmp_path / "run/qwen3-0.6b.qdstrm").exists()


def test_a_program_that_fails_before_anything_is_recorded(go, tmp_path):
    """nsys exits 0 all the same; an older run's report must not pass for this one's."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run/qwen3-0.6b.nsys-rep").write_text("of yesterday")
    program = [sys.executable, "-c", "print('start'); raise ValueError('no such model')"]
    with pytest.raises(CaptureError) as caught:
        go(program, fake={"profile": '"$@"; echo "No reports were generated"; exit 0'})
    assert caught.value.message == (
        "The program failed with exit code 1 before anything was recorded: "
        "ValueError: no such model"
    )
    assert str(tmp_path / "run/variant.log") in (caught.value.hint or "")


def test_a_program_that_is_killed(go):
    with pytest.raises(CaptureError, match="failed with signal SIGKILL before"):
        go(sh("kill -9 $$"), fake={"profile": '"$@"; exit 0'})


def test_a_program_that_does_not_exist(go):
    with pytest.raises(CaptureError, match=r"failed with exit code 127 before.*not found"):
        go(["no-such-program"], fake={"profile": '"$@"; exit 0'})


def test_nothing_recorded_though_all_went_well(go):
    with pytest.raises(CaptureError, match="never called cudaProfilerStart"):
        go(sh("exit 0"), fake={"profile": '"$@"'})


def test_nsys_refuses(go, tmp_path):
    with pytest.raises(CaptureError, match=r"exit code 1 before .* had run: unrecognised option"):
        go(sh("exit 0"), fake={"profile": "echo unrecognised option; exit 1"})
    assert (tmp_path / "run/variant.nsys.log").read_text() == "unrecognised option\n"


def test_a_program_that_fails_after_recording_is_told_not_raised(go):
    done = go(sh("exit 7"), fake={"profile": '"$@"; echo report >"$out.nsys-rep"; exit 0'})
    assert (done.exit_code, done.program_exit_code) == (0, 7)


def test_a_failing_export_is_quoted(go):
    with pytest.raises(CaptureError, match=r"could not export .*: file is newer than this nsys"):
        go(sh("exit 0"), fake={"export": "echo file is newer than this nsys; exit 1"})


def test_an_unwritable_folder(make_nsys, tmp_path):
    (tmp_path / "file").write_text("")
    output = tmp_path / "file/run"
    with pytest.raises(CaptureError, match="cannot be written"):
        record(find_nsys(make_nsys()), ["true"], Tracing(), output=output, log=tmp_path / "log")


# nsys starts its agent in a session of its own and traces the program in another one.
DETACHING = '(setsid sleep {tag} &) ; setsid "$@" & wait'


def test_time_out_ends_all_that_was_started(go):
    tag = "1111.0625"
    program = sh(f"trap '' TERM; echo alive; setsid sleep {tag}; sleep {tag}")
    with pytest.raises(ChildTimeoutError, match=r"within 2 s, its last line was: alive"):
        go(program, fake={"profile": DETACHING.format(tag=tag)}, timeout_s=2)
    assert running(tag) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_all_that_was_started(make_nsys, tmp_path, number):
    tag = f"2222.{number}"
    nsys = make_nsys(profile=DETACHING.format(tag=tag))
    # What a shell starts in the background ignores SIGINT, and so would the child.
    code = f"""
        import signal
        from pathlib import Path
        from launchlens.capture import Tracing, find_nsys, record
        signal.signal(signal.SIGINT, signal.default_int_handler)
        record(find_nsys(Path({str(nsys)!r})), ["sleep", {tag!r}], Tracing(),
               output=Path({str(tmp_path / "out")!r}), log=Path({str(tmp_path / "log")!r}))
    """
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: len(running(tag)) >= 2)
    child.send_signal(number)
    _, errors = child.communicate(timeout=30)
    assert running(tag) == []
    if number == signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
    else:
        assert child.returncode == 128 + number


def test_what_outlives_the_program_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("launchlens.capture.process.LEFTOVER_GRACE_S", 0.3)
    tag = "3333.0625"
    assert run_plain(sh(f"setsid sleep {tag} & exit 4"), log=tmp_path / "log") == 4
    assert running(tag) == []


def test_run_plain(tmp_path):
    log = tmp_path / "new/plain.log"
    assert run_plain(sh("printf 'a\\rb\\n'; exit 3"), log=log) == 3
    assert log.read_text() == "b\n"
    with pytest.raises(CaptureError, match=r"within 0\.5 s"):
        run_plain(["sleep", "30"], log=log, timeout_s=0.5)
    with pytest.raises(CaptureError, match="no-such-program cannot be started"):
        run_plain(["no-such-program"], log=log)


def test_progress_bars_are_kept_out_of_logs(tmp_path):
    """The text is what nsys 2022.4.2 and tqdm print."""
    log = tmp_path / "log"
    log.write_bytes(
        b"Generating '/tmp/nsys-report-57a3.qdstrm'\n"
        b"Exporting 89 events: [1%      ]\rExporting 89 events: [=====100%]\n"
        b"weights:  50%|##5  | 1/2\rweights: 100%|#####| 2/2\r\n"
        b"done: 100% of it\n"
    )
    clean_log(log)
    assert log.read_text().splitlines() == [
        "Generating '/tmp/nsys-report-57a3.qdstrm'",
        "weights: 100%|#####| 2/2",
        "done: 100% of it",
    ]


@pytest.mark.parametrize(
    ("code", "words"),
    [(3, "exit code 3"), (137, "signal SIGKILL"), (-11, "signal SIGSEGV"), (255, "exit code 255")],
)
def test_exit_codes_in_words(code, words):
    assert describe_exit(code) == words


def test_read_output_never_raises():
    assert read_output(["/nonexistent/x"]).exit_code is None
    assert read_output(["sh", "-c", "echo a; echo b >&2; exit 5"]).text == "a\nb\n"
