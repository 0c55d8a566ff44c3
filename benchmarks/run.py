"""Measure launchlens and the ways to read an export, on a trace of three million kernels.

usage: python benchmarks/run.py [-o benchmarks/results.json] [--trace GROWN.sqlite] [--repeats 5]

Measured: ``launchlens analyze`` and ``launchlens --help`` (wall time and peak resident memory of
the whole process), and reading the kernel and API tables alone with each library that could do
it. Everything runs in a process of its own, with the file in the page cache. Without --trace the
shipped gemma-4-E4B eager trace is grown in a temporary folder (about 600 MB).
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from grow_trace import grow

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "traces" / "gemma-4-e4b-eager.nsys2025.3.sqlite.xz"
READERS = Path(__file__).with_name("readers.py")
PACKAGES = ("launchlens", "adbc-driver-sqlite", "pyarrow", "numpy", "connectorx")
KERNELS, API_ROWS = 3_000_000, 6_500_000
LIMITS = {"analyze": (5.0, 1_000_000_000), "help": (0.2, None)}


def run_child(command: Sequence[str]) -> tuple[float, int, str]:
    """Wall seconds, peak resident bytes and standard output of one process."""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
        out.seek(0)
        return wall, usage.ru_maxrss * 1024, out.read().decode()


def measure(command: Sequence[str], repeats: int) -> dict[str, Any]:
    """A command's wall times (median, best, all) and its largest peak memory."""
    runs = [run_child(command) for _ in range(repeats)]
    walls = [wall for wall, _, _ in runs]
    return {
        "median_s": round(statistics.median(walls), 3),
        "best_s": round(min(walls), 3),
        "samples_s": [round(wall, 3) for wall in walls],
        "peak_bytes": max(peak for _, peak, _ in runs),
    }


def measure_reader(name: str, trace: Path, repeats: int) -> dict[str, Any] | None:
    """The same for one way to read; its time leaves out starting Python and imports."""
    package = {"adbc-1": "adbc_driver_sqlite", "adbc-2": "adbc_driver_sqlite"}.get(name, name)
    if importlib.util.find_spec(package) is None:
        print(f"  {name}: skipped, {package} is not installed (pip install .[bench])")
        return None
    runs = [run_child([sys.executable, str(READERS), name, str(trace)]) for _ in range(repeats)]
    answers = [json.loads(out) for _, _, out in runs]
    assert len({tuple(a["sums"]) for a in answers}) == 1
    seconds = [a["seconds"] for a in answers]
    return {
        "median_s": round(statistics.median(seconds), 3),
        "best_s": round(min(seconds), 3),
        "samples_s": [round(s, 3) for s in seconds],
        "peak_bytes": max(peak for _, peak, _ in runs),
        "sums": answers[0]["sums"],
    }


def machine(packages: Sequence[str] = PACKAGES) -> dict[str, Any]:
    """What the figures belong to: they mean little on another machine."""
    cpu = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    versions = {}
    for name in packages:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "load_before": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions,
    }


def benchmark(trace: Path, kernels: int, api_rows: int, repeats: int) -> dict[str, Any]:
    """All measurements on one grown trace."""
    about = machine()
    launchlens = [sys.executable, "-m", "launchlens"]
    measured: dict[str, Any] = {}
    for name, command in (
        ("help", [*launchlens, "--help"]),
        ("analyze", [*launchlens, "analyze", str(trace)]),
    ):
        measured[name] = measure(command, repeats)
        print(f"  {name}: {measured[name]['median_s']} s, {measured[name]['peak_bytes']:,} bytes")
    readers: dict[str, Any] = {}
    for name in ("adbc-2", "adbc-1", "connectorx", "sqlite3"):
        if (result := measure_reader(name, trace, min(repeats, 3))) is not None:
            readers[name] = result
            print(f"  {name}: {result['median_s']} s, {result['peak_bytes']:,} bytes")
    sums = [reader.pop("sums") for reader in readers.values()]
    assert all(s == sums[0] for s in sums), "the readers do not agree on what they read"
    return {
        "schema": "launchlens.benchmark/1",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": about,
        "trace": {"kernels": kernels, "api_rows": api_rows, "bytes": trace.stat().st_size},
        "commands": measured,
        "readers": readers,
    }


def verdicts(result: dict[str, Any]) -> list[str]:
    """Which limits are broken, in sentences; judged by the best run, which load spoils least."""
    broken = []
    for name, (seconds, peak) in LIMITS.items():
        figures = result["commands"][name]
        if figures["best_s"] > seconds:
            broken.append(f"{name} takes {figures['best_s']} s, more than {seconds} s")
        if peak is not None and figures["peak_bytes"] > peak:
            broken.append(f"{name} takes {figures['peak_bytes']:,} bytes, more than {peak:,}")
    return broken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks" / "results.json")
    parser.add_argument("--trace", type=Path, help="keep or reuse the grown trace here")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="launchlens-bench-") as folder:
        trace = args.trace or Path(folder) / "grown.sqlite"
        if not trace.exists():
            print(f"growing {SOURCE.name} to {KERNELS:,} kernels and {API_ROWS:,} API rows")
            grow(SOURCE, trace, KERNELS, API_ROWS)
        kernels, api_rows = count_rows(trace)
        result = benchmark(trace, kernels, api_rows, args.repeats)
    args.output.write_text(json.dumps(result, indent=1) + "\n")
    print(f"wrote {args.output}")
    if broken := verdicts(result):
        raise SystemExit("\n".join(broken))


def count_rows(trace: Path) -> tuple[int, int]:
    """Kernel and API rows of a trace."""
    import sqlite3

    db = sqlite3.connect(f"file:{trace}?mode=ro&immutable=1", uri=True)
    tables = ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME")
    kernels, api_rows = (db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)
    db.close()
    return kernels, api_rows


if __name__ == "__main__":
    main()
