"""Stand-ins for nsys: shell scripts that take its command line, and a look at what still runs."""

from __future__ import annotations

import time
from pathlib import Path

HELP = "--output= --cuda-graph-trace= --trace-fork-before-exec= --cpuctxsw= --wait= --sample="

# What an nsys that works does with the program, $out and $report.
PROFILE = '"$@"; status=$?; echo report >"$out.nsys-rep"; exit $status'
EXPORT = 'cat "$report" >"$out"'

# Runs the program like nsys does, then does what a test wants done with $out and $status.
SCRIPT = """#!/bin/sh
case "$1" in
  --version) echo "NVIDIA Nsight Systems version {version}" ;;
  profile)
    if [ "$2" = --help ]; then printf '%s\\n' {help}; exit 0; fi
    while [ $# -gt 0 ]; do
      word=$1; shift
      case "$word" in --output=*) out=${{word#--output=}}; break ;; esac
    done
    {profile}
    ;;
  export)
    if [ "$2" = --help ]; then printf '%s\\n' {export_help}; exit 0; fi
    for word in "$@"; do case "$word" in --output=*) out=${{word#--output=}} ;; esac; done
    report=$word
    {export}
    ;;
esac
"""


def write_script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def running(word: str) -> list[int]:
    """Ids of processes with a word among their arguments; zombies have no arguments."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if word.encode() in words:
            found.append(int(folder.name))
    return found


def wait_for(condition, limit_s: float = 20.0) -> None:
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)
