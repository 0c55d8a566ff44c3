"""What identifies a machine leaves the copy; what figures need stays."""

import contextlib
import sqlite3
import sys
from pathlib import Path

import pytest

from launchlens.errors import TraceError
from launchlens.metrics import summarize
from launchlens.trace import find_secrets, read_trace, scrub_trace
from launchlens.trace.formats.nsys.private import strip_folders

TRACES = Path(__file__).parents[3] / "traces"
SECRET = "wandering-otter-31"
HOME = "/".join(["", "home", "ada"])
PAYLOAD = b"\x01\0" + f"{HOME}/secret-project/model.py".encode() + b"\0\x0c\0"
ENVIRONMENT = f"HOME={HOME}\nAPI_TOKEN={SECRET}\nPATH=/usr/bin\nUSER=ada\nLANG=C"
PID = 0x1000000001000000


@pytest.fixture
def export(tmp_path):
    """An export with every place where nsys keeps secrets, all of them filled."""
    path = tmp_path / "secret.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        """
        CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
        CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
        CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
        CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, name TEXT, value TEXT);
        CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, uuid TEXT);
        CREATE TABLE TARGET_INFO_NIC_INFO (name TEXT, guid TEXT);
        CREATE TABLE ProcessStreams (
          globalPid INTEGER, filenameId INTEGER, -- REFERENCES StringIds(id) -- File name
          contentId INTEGER -- REFERENCES StringIds(id) -- Content
        );
        CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
        CREATE TABLE ThreadNames (nameId INTEGER, globalTid INTEGER);
        CREATE TABLE DIAGNOSTIC_EVENT (severity INTEGER, text TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
          start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, demangledName INTEGER);
        CREATE TABLE NVTX_EVENTS (
          start INTEGER, text TEXT, textId INTEGER, globalTid INTEGER, binaryData TEXT);
        """
    )
    strings = [
        (1, "cudaLaunchKernel_v7000"),
        (2, "void ns::kernel<a / b>(int)"),
        (3, ENVIRONMENT),
        (4, "/tmp/nvidia/streams/pid_1_stdout.log"),
        (5, "firefox"),
        (6, "python3"),
        (7, f"{HOME}/secret-project/model.py:12"),
        (8, f"hf_{'a1B2' * 8}"),
    ]
    rows = {
        "StringIds": strings,
        "META_DATA_CAPTURE": [
            ("PROCESS_0:ENVIRONMENT_VARIABLE_0", f"API_TOKEN={SECRET}"),
            ("PROCESS_0:WORKING_DIR", f"{HOME}"),
            ("PROCESS_0:ARGUMENT_0", f"--key={SECRET}"),
            ("CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node"),
        ],
        "META_DATA_EXPORT": [
            ("EXPORT_SCHEMA_VERSION", "3.20.3"),
            ("EXPORT_FILE_PATH", f"{HOME}/x.sqlite"),
        ],
        "TARGET_INFO_SYSTEM_ENV": [
            (1, "NvDriverVersion", "580.1"),
            (1, "Hostname", "ada-laptop"),
            (1, "DeviceEnvironment", ENVIRONMENT),
        ],
        "TARGET_INFO_GPU": [(0, "NVIDIA H200", "7e56-aa"), (1, "NVIDIA H200", "7e56-bb")],
        "TARGET_INFO_NIC_INFO": [("eth0", "00:11:22:33:44:55")],
        "ProcessStreams": [(PID, 4, 3)],
        "PROCESSES": [(PID, 7, f"{HOME}/venv/bin/python3"), (PID + (1 << 24), 8, "firefox")],
        "ThreadNames": [(6, PID + 7), (5, PID + (1 << 24) + 8)],
        "DIAGNOSTIC_EVENT": [(1, f"Loaded {HOME}/lib/libx.so twice")],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [(10, 15, PID + 7, 1)],
        "CUPTI_ACTIVITY_KIND_KERNEL": [(20, 2)],
        "NVTX_EVENTS": [
            (5, "prefill#0", None, PID + 7, None),
            (6, None, 7, PID + 7, PAYLOAD),
            (7, None, 8, PID + 7, None),
        ],
    }
    for table, values in rows.items():
        marks = ", ".join("?" * len(values[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", values)
    connection.commit()
    connection.close()
    return path


def query(path, sql):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_nothing_secret_stays_in_the_file(export, tmp_path):
    out = tmp_path / "clean.sqlite"
    scrub_trace(export, out)
    raw = out.read_bytes()
    words = (SECRET, "ada", "firefox", "secret-project", "hf_a1B2", "00:11:22", "7e56", "eth0")
    assert [w for w in words if w.encode() in raw] == []
    assert find_secrets(out) == []
    assert len(find_secrets(export)) >= 6


def test_what_figures_need_stays(export, tmp_path):
    out = tmp_path / "clean.sqlite"
    scrub_trace(export, out)
    assert dict(query(out, "SELECT * FROM StringIds")) == {
        1: "cudaLaunchKernel_v7000",
        2: "void ns::kernel<a / b>(int)",
        6: "python3",
        7: "model.py:12",
        8: "[removed]",
    }
    assert query(out, "SELECT * FROM PROCESSES") == [(PID, 7, "python3")]
    assert query(out, "SELECT name FROM META_DATA_CAPTURE") == [("CUDA_GRAPH_TRACE_OPTIONS:MODE",)]
    assert query(out, "SELECT name, value FROM TARGET_INFO_SYSTEM_ENV") == [
        ("NvDriverVersion", "580.1")
    ]
    assert query(out, "SELECT text FROM DIAGNOSTIC_EVENT") == [("Loaded libx.so twice",)]
    assert len(set(query(out, "SELECT uuid FROM TARGET_INFO_GPU"))) == 2
    (blob,) = query(out, "SELECT binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL")[0]
    # Same length, so that offsets inside the payload stay right; the file's name stays.
    assert len(blob) == len(PAYLOAD)
    assert blob.endswith(b"/model.py\0\x0c\0")


def test_the_source_is_left_alone_and_the_copy_must_be_another(export, tmp_path):
    before = export.read_bytes()
    scrub_trace(export, tmp_path / "out.sqlite")
    assert export.read_bytes() == before
    with pytest.raises(TraceError, match="in place"):
        scrub_trace(export, export)
    with pytest.raises(TraceError):
        scrub_trace(tmp_path / "missing.sqlite", tmp_path / "out.sqlite")
    (tmp_path / "text.sqlite").write_text("no database")
    with pytest.raises(TraceError):
        scrub_trace(tmp_path / "text.sqlite", tmp_path / "out.sqlite")


def test_figures_of_a_real_trace_do_not_change(tmp_path):
    packed = TRACES / "qwen3-0.6b-eager.nsys2025.3.sqlite.xz"
    out = tmp_path / "clean.sqlite"
    scrub_trace(packed, out)
    assert find_secrets(out) == []
    before, after = read_trace(packed), read_trace(out)
    assert summarize(after).steps == summarize(before).steps
    assert after.strings == before.strings
    assert (after.info.gpu, after.info.driver) == (before.info.gpu, before.info.driver)


def test_shipped_traces_hold_no_environment():
    for path in sorted(TRACES.glob("*.xz")):
        found = [line for line in find_secrets(path) if "path" not in line]
        assert found == [], path.name


def test_folders_go_and_names_stay():
    assert strip_folders('File "/a/b/c.py", line 3') == 'File "c.py", line 3'
    for kept in ("a / b", "x/y", "operator/(int)", "1/2", "either/or/both"):
        assert strip_folders(kept) == kept


@pytest.mark.nsys
def test_a_real_recording_keeps_no_environment(tmp_path, monkeypatch):
    """nsys itself writes the environment into the export; the scrubbed copy has none of it."""
    from launchlens.capture import Tracing, find_nsys, record
    from launchlens.errors import CaptureError

    monkeypatch.setenv("LAUNCHLENS_API_TOKEN", SECRET)
    try:
        nsys = find_nsys()
    except CaptureError as error:
        pytest.skip(str(error))
    program = [sys.executable, "-c", "import nvtx; print('hello from the program')"]
    done = record(
        nsys,
        program,
        Tracing(cuda=False, extra=["-t", "nvtx,osrt"]),
        output=tmp_path / "real",
        log=tmp_path / "real.log",
    )
    assert SECRET.encode() in done.sqlite.read_bytes()
    out = tmp_path / "clean.sqlite"
    scrub_trace(done.sqlite, out)
    clean = out.read_bytes()
    assert SECRET.encode() not in clean
    assert b"hello from the program" not in clean
    assert b"Hostname" not in clean
    assert find_secrets(out) == []
