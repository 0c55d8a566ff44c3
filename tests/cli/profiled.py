"""Ways to start the program as a user does, with a two-layer model; and what runs leave behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NSYS = shutil.which("nsys")
RANGES = """
    SELECT COALESCE(e.text, s.value) AS name, count(*)
    FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId
    WHERE e.eventType = 59 AND e.domainId IN (
        SELECT domainId FROM NVTX_EVENTS WHERE eventType = 75 AND text = 'launchlens')
    GROUP BY 1
"""


def environment(folder, **more):
    """The environment of a user whose runs lie in ``folder``."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    own = {"PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "COLUMNS": "80", "NO_COLOR": "1"}
    return os.environ | own | {"LAUNCHLENS_RUNS": str(folder / "runs")} | more


def launchlens(folder, *arguments, timeout=500, **more):
    """Runs the program in ``folder``; the completed process."""
    return subprocess.run(
        [sys.executable, "-m", "launchlens", *map(str, arguments)],
        cwd=folder,
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def one_sentence(process, *, code=1):
    """What a command said that failed: one line, after the lines of its stages."""
    assert process.returncode == code, process.stderr
    assert "Traceback" not in process.stderr
    assert process.stdout == ""
    last = process.stderr.strip().splitlines()[-1]
    assert last.startswith("launchlens: ")
    return last


def run_folders(folder):
    """Run folders, the oldest first."""
    return sorted((p.parent for p in (folder / "runs").glob("*/run.json")), key=os.path.getctime)


def newest_run(folder):
    """The newest run's folder and its run.json."""
    run = run_folders(folder)[-1]
    return run, json.loads((run / "run.json").read_text())


def query(database, text):
    """All rows of a query on a file that is left as it is."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db:
        return db.execute(text).fetchall()


def processes_of(run):
    """Ids of processes, zombies left out, that name a run's folder among their arguments."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if str(run).encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
    return found


def wait_until(condition, limit_s=60.0):
    """Waits for a condition to become true."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)
