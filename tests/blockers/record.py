"""Records every program of `programs/` on a machine with a GPU.

    NSYS=/path/to/nsys python tests/blockers/record.py OUT [--jobs 8] [--only NAME ...] [--stacks]
    NSYS=/path/to/nsys python tests/blockers/record.py OUT --jobs 16 --stacks-only

For each program: an nsys trace of three eager steps, exported to SQLite, scrubbed, without the
tables that no one needs, compressed with xz; a real capture attempt; and what the harness's
dispatch mode sees in a step; each in a process of its own.
Writes `OUT/blocker-programs.tar` (NAME.sqlite.xz for each program) and `OUT/captures.json`
(status, first error line and source line for each, dispatch events, versions). With `--stacks` the
programs whose steps make a call that gets a stack are recorded once more with call stacks
(NAME.stacks.sqlite.xz); with `--stacks-only` nothing but these is made: `OUT/blocker-stacks.tar`.
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
# nsys 2025.3 notes stacks only for calls that synchronize or wait for an event: these programs'.
WITH_STACKS = (
    "altup_epsilon",
    "boolean_index",
    "config_scalar_tensor",
    "cpu_embedding",
    "explicit_sync",
    "guarded_condition",
    "item_loop",
    "layer_to_device",
    "list_index_scalar",
    "old_event_wait",
    "repeat_interleave",
    "shape_tensors",
    "tensor_condition",
    "tolist_lengths",
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
    """What scrubs traces; none of it needs the package's heavy imports, which may be missing."""
    sys.path.insert(0, str(ROOT))
    from launchlens import trace
    from launchlens.trace.formats.nsys.private import strip_folders

    return types.SimpleNamespace(
        scrub_trace=trace.scrub_trace,
        find_secrets=trace.find_secrets,
        strip_folders=strip_folders,
    )


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
    scrub.scrub_trace(sqlite, clean)
    secrets = scrub.find_secrets(clean)
    if secrets:
        return {"error": f"still holds secrets: {secrets[:3]}"}
    packed = folder / f"{clean.name}.xz"
    packed.write_bytes(lzma.compress(clean.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    return {"file": packed.name, "bytes": packed.stat().st_size}


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


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--stacks", action="store_true")
    parser.add_argument("--stacks-only", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    return arguments


def pack(folder, out):
    with tarfile.open(out, "w") as tar:
        for packed in sorted(folder.glob("*.xz")):
            tar.add(packed, packed.name)
    print(out.name, out.stat().st_size, "bytes")


def record_stacks_only(arguments, nsys, scrub):
    names = [n for n in WITH_STACKS if not arguments.only or n in arguments.only]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        folder = Path(scratch)
        traces = {n: pool.submit(run_safely, record, nsys, scrub, n, folder, True) for n in names}
        for n, future in traces.items():
            print(n, future.result())
        pack(folder, arguments.out / "blocker-stacks.tar")


def main():
    arguments = read_arguments()
    nsys, scrub = find_nsys(), load_scrub()
    if arguments.stacks_only:
        record_stacks_only(arguments, nsys, scrub)
        return
    names = sorted(p.stem for p in RUNNER.parent.glob("*.py") if not p.stem.startswith("_"))
    names = [n for n in names if not arguments.only or n in arguments.only]
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        folder = Path(scratch)
        traces = {n: pool.submit(run_safely, record, nsys, scrub, n, folder, False) for n in names}
        if arguments.stacks:
            for n in (n for n in names if n in WITH_STACKS):
                traces[f"{n}.stacks"] = pool.submit(
                    run_safely, record, nsys, scrub, n, folder, True
                )
        captures = {n: pool.submit(run_safely, ask, n, "--capture") for n in names}
        events = {n: pool.submit(run_safely, ask, n, "--dispatch") for n in names}
        made = {n: f.result() for n, f in traces.items()}
        result = {
            "versions": versions(nsys),
            "captures": {n: f.result() for n, f in captures.items()},
            "events": {n: f.result().get("events", []) for n, f in events.items()},
        }
        pack(folder, arguments.out / "blocker-programs.tar")
    text = scrub.strip_folders(json.dumps(result, indent=1, sort_keys=True))
    (arguments.out / "captures.json").write_text(text)
    for n in sorted(made):
        print(n, made[n], result["captures"].get(n, ""))
    print(len(made), "traces", result["versions"])


if __name__ == "__main__":
    main()
