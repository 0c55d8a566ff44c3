"""Records every program of `programs/` on a machine with a GPU.

    NSYS=/path/to/nsys python tests/blockers/record.py OUT [--jobs 8] [--only NAME ...] [--stacks]

For each program: an nsys trace of three eager steps, exported to SQLite, scrubbed, without the
tables that no one needs, compressed with xz; a real capture attempt; and what the harness's
dispatch mode sees in a step; each in a process of its own.
Writes `OUT/blocker-programs.tar` (NAME.sqlite.xz for each program) and `OUT/captures.json`
(status, first error line and source line for each, dispatch events, versions). With `--stacks` the
programs that have a finding are recorded once more with call stacks (NAME.stacks.sqlite.xz).
"""

import argparse
import json
import lzma
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RUNNER = HERE / "programs" / "_runner.py"
LIMIT_S = 120
TRACE_ARGUMENTS = (
    "-t cuda,nvtx -s none --cpuctxsw=none --cuda-graph-trace=node "
    "--capture-range=cudaProfilerApi --capture-range-end=stop --trace-fork-before-exec=true"
)
STACK_ARGUMENTS = (
    "-t cuda,nvtx -s process-tree --cpuctxsw=none --cudabacktrace=memory:0,sync:0 "
    "--python-backtrace=cuda --capture-range=cudaProfilerApi --capture-range-end=stop"
)
# Sampled stacks, other programs' threads and process lists: megabytes that no test reads.
UNNEEDED = (
    "ThreadNames",
    "SAMPLING_CALLCHAINS",
    "COMPOSITE_EVENTS",
    "SCHED_EVENTS",
    "OSRT_API",
    "OSRT_CALLCHAINS",
    "PERF_EVENT_SOC_OR_CPU_RAW_EVENT",
    "TARGET_INFO_PERF_METRIC",
    "ProcessStreams",
)


def load_scrub():
    """`launchlens.trace.scrub` without the package's heavy imports, which may be missing here."""
    for name in ("launchlens", "launchlens.trace"):
        package = types.ModuleType(name)
        package.__path__ = [str(ROOT / name.replace(".", "/"))]
        sys.modules[name] = package
    from launchlens.trace import scrub

    return scrub


def find_nsys():
    nsys = os.environ.get("NSYS") or shutil.which("nsys")
    if not nsys:
        sys.exit("nsys is not on PATH: set NSYS to its path")
    return nsys


def export(nsys, report, sqlite):
    """Report (or the raw .qdstrm beside it, by the importer next to nsys) to SQLite."""
    if not report.exists():
        raw = report.with_suffix(".qdstrm")
        roots = [Path(nsys).resolve().parents[i] for i in (1, 2)]
        importers = [p for root in roots for p in root.glob("host*/**/QdstrmImporter")]
        if not raw.exists() or not importers:
            return False
        subprocess.run([importers[0], "-i", raw, "-o", report], capture_output=True, check=False)
    command = [nsys, "export", "-t", "sqlite", "--include-blobs=true", "-f", "true"]
    subprocess.run([*command, "-o", sqlite, report], capture_output=True, check=False)
    return sqlite.exists()


def shrink(path):
    """Drop unneeded tables; only the tables named, so that the rest stays as exported."""
    with sqlite3.connect(path) as connection:
        for table in UNNEEDED:
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection = sqlite3.connect(path)
    connection.execute("VACUUM")
    connection.close()


def stack_sample(path, scrub):
    """How this nsys lays out Python stacks: rows and one payload, for the decoder's tests."""
    with sqlite3.connect(path) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        marks = (
            "SELECT binaryData FROM NVTX_EVENTS WHERE binaryData IS NOT NULL AND domainId IN "
            "(SELECT domainId FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId "
            "WHERE eventType = 75 AND COALESCE(text, value) LIKE 'Python Backtrace%')"
        )
        try:
            payloads = connection.execute(marks).fetchall()
            chains = connection.execute("SELECT count(*) FROM CUDA_CALLCHAINS").fetchone()[0]
            schemas = connection.execute("SELECT * FROM NVTX_PAYLOAD_SCHEMAS").fetchall()
            entries = connection.execute("SELECT * FROM NVTX_PAYLOAD_SCHEMA_ENTRIES").fetchall()
        except sqlite3.OperationalError as error:
            return {"stacks": str(error)}
    first = payloads[0][0] if payloads else b""
    masked = scrub.mask_folders(first if isinstance(first, bytes) else first.encode())
    shown = {"payloads": len(payloads), "chains": chains, "first_payload": masked.hex()}
    return {"stacks": shown | {"schemas": schemas, "entries": entries}}


def record(nsys, scrub, name, folder, stacks):
    suffix = ".stacks" if stacks else ""
    report = folder / f"{name}{suffix}.nsys-rep"
    sqlite, clean = folder / f"{name}{suffix}.raw.sqlite", folder / f"{name}{suffix}.sqlite"
    arguments = STACK_ARGUMENTS if stacks else TRACE_ARGUMENTS
    command = [nsys, "profile", *arguments.split(), "-f", "true", "-o", report.with_suffix("")]
    program = [sys.executable, RUNNER, name, "--trace"]
    run = subprocess.run(
        [*command, *program], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if not export(nsys, report, sqlite):
        return {"error": (run.stdout + run.stderr)[-1500:]}
    shrink(sqlite)
    sample = stack_sample(sqlite, scrub) if stacks else {}
    scrub.scrub_trace(sqlite, clean)
    secrets = scrub.find_secrets(clean)
    if secrets:
        return {"error": f"still holds secrets: {secrets[:3]}"}
    packed = folder / f"{clean.name}.xz"
    packed.write_bytes(lzma.compress(clean.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    return {"file": packed.name, "bytes": packed.stat().st_size, **sample}


def ask(name, mode):
    """One line of JSON from the program: what a capture attempt or the harness's mode says."""
    run = subprocess.run(
        [sys.executable, RUNNER, name, mode],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"program": name, "status": "crashed", "error_line": run.stderr[-1500:]}
    return json.loads(lines[-1])


def versions(nsys):
    code = (
        "import json, sys, torch; print(json.dumps({'torch': torch.__version__, "
        "'cuda': torch.version.cuda, 'gpu': torch.cuda.get_device_name(), "
        "'python': sys.version.split()[0]}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    found = json.loads(run.stdout) if run.returncode == 0 else {"error": run.stderr[-500:]}
    out = subprocess.run([nsys, "--version"], capture_output=True, text=True, check=False).stdout
    return found | {"nsys": out.strip()}


def run_safely(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:  # one program must not cost the others' recordings
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--stacks", action="store_true")
    arguments = parser.parse_args()
    nsys, scrub = find_nsys(), load_scrub()
    names = sorted(p.stem for p in RUNNER.parent.glob("*.py") if not p.stem.startswith("_"))
    names = [n for n in names if not arguments.only or n in arguments.only]
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        folder = Path(scratch)
        traces = {n: pool.submit(run_safely, record, nsys, scrub, n, folder, False) for n in names}
        if arguments.stacks:
            for n in (n for n in names if not n.startswith("clean_")):
                traces[f"{n}.stacks"] = pool.submit(
                    run_safely, record, nsys, scrub, n, folder, True
                )
        captures = {n: pool.submit(run_safely, ask, n, "--capture") for n in names}
        events = {n: pool.submit(run_safely, ask, n, "--dispatch") for n in names}
        result = {
            "versions": versions(nsys),
            "traces": {n: f.result() for n, f in traces.items()},
            "captures": {n: f.result() for n, f in captures.items()},
            "events": {n: f.result().get("events", []) for n, f in events.items()},
        }
        with tarfile.open(arguments.out / "blocker-programs.tar", "w") as tar:
            for packed in sorted(folder.glob("*.xz")):
                tar.add(packed, packed.name)
    text = scrub.strip_folders(json.dumps(result, indent=1, sort_keys=True))
    (arguments.out / "captures.json").write_text(text)
    for n in sorted(result["traces"]):
        print(n, result["traces"][n], result["captures"].get(n, ""))
    size = (arguments.out / "blocker-programs.tar").stat().st_size
    print(f"{len(result['traces'])} traces, {size} bytes", result["versions"])


if __name__ == "__main__":
    main()
