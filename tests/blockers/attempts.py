"""Capture attempts and operators as the harness sends them, and those of the recorded programs."""

from __future__ import annotations

import json
from pathlib import Path

from launchlens.protocol.step import Attempt, BlockerMet, ClearedLine, CopyEvent

RECORDED = Path(__file__).parent / "recorded"
MODEL = "/site-packages/transformers/models/gemma3n/modeling_gemma3n.py"


def event(kind, size, line, function="forward", file=MODEL, op="aten._to_copy"):
    """An operator of the step at a line of a file."""
    return CopyEvent(
        op=op,
        kind=kind,
        bytes=size,
        dtype=None,
        shape=None,
        pinned=False,
        non_blocking=False,
        source=f"{Path(file).name}:{line}",
        path=file,
        line=line,
        function=function,
        module=None,
        stack=(f"{file}:{line} {function}", "/bench/run.py:10 main"),
    )


def met(error_line, line, file=MODEL, **more):
    """A failure of the capture at a line of a file."""
    known = {"order": 1, "kind": None, "op": None, "bytes": None, "count": None, "hint": None}
    return BlockerMet(
        source=f"{Path(file).name}:{line}",
        path=file,
        line=line,
        function=None,
        error_type="RuntimeError",
        error_line=error_line,
        **(known | more),
    )


def attempted(*blockers, captured=False, cleared=None, events=()):
    """An attempt that met these failures, in order."""
    return Attempt(
        captured=captured,
        blockers=blockers,
        patched_sources=(),
        cleared=tuple(ClearedLine(**c) for c in cleared) if cleared is not None else None,
        events=tuple(events),
        stopped=None,
    )


def recorded_events(name):
    """The operators of a recorded program's step."""
    events = json.loads((RECORDED / "captures.json").read_text())["events"][name]
    lists = ("shape", "stack")
    return [
        CopyEvent(**{k: tuple(v) if k in lists and v is not None else v for k, v in e.items()})
        for e in events
    ]


def recorded_attempt(name):
    """What the capture of a recorded program's step came to on a GPU."""
    told = json.loads((RECORDED / "captures.json").read_text())["captures"][name]
    if told["status"] == "captured":
        return attempted(captured=True)
    file, _, line = told["source"].rpartition(":")
    return attempted(met(told["error_line"], int(line), file))
