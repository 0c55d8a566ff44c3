"""`launchlens --help` is quick because it loads nothing heavy, and `--version` too."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"torch", "pandas", "plotly", "pyarrow", "numpy", "transformers", "sqlite_utils",
         "adbc_driver_sqlite", "zstandard"}  # fmt: skip
OWN_BUT_NOT_YET = tuple(
    f"launchlens.{room}"
    for room in ("records", "report", "metrics", "trace", "comparison", "blockers", "store")
)
PROBE = """
import json, sys
sys.argv = ["launchlens", *{args}]
from launchlens.cli.main import main
try:
    main()
except SystemExit as end:
    code = end.code
print("\\n@" + json.dumps([code or 0, sorted(sys.modules)]))
"""


@pytest.mark.parametrize(
    "args", [["--help"], ["analyze", "--help"], ["diff", "--help"], ["--version"]], ids=" ".join
)
def test_help_loads_nothing_heavy(args):
    done = subprocess.run(
        [sys.executable, "-c", PROBE.format(args=args)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    code, modules = json.loads(done.stdout.rpartition("@")[2])
    assert code == 0, done.stderr
    assert sorted(HEAVY & {name.partition(".")[0] for name in modules}) == []
    own = [name for name in modules if name.startswith(OWN_BUT_NOT_YET)]
    assert own == [], "rooms that a command imports when it runs"


def test_importing_launchlens_is_light_too():
    code = "import launchlens, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert not HEAVY & {name.partition(".")[0] for name in json.loads(done.stdout)}
