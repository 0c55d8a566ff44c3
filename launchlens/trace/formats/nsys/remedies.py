"""What a recording of nsys may lack, and the options that bring it."""

from __future__ import annotations

from launchlens.records.recorder import Need, Recorder
from launchlens.trace.formats.nsys.stacks import PYTHON_DOMAIN

_REMEDIES = {
    Need.CALLS: "record it with nsys profile -t cuda,nvtx on a machine with a GPU",
    Need.EVENTS: "record it again with nsys profile -t cuda,nvtx",
    Need.RANGES: "record it again with nsys profile -t cuda,nvtx and a range around each forward "
    "step",
    Need.GRAPH_WORK: "record it again with --cuda-graph-trace=node, or with a newer nsys (2025.3 "
    "exports it)",
    Need.GRAPH_NODES: "for counts of operations record with --cuda-graph-trace=node",
    Need.ONE_GRAPH_TRACING: "record it with one setting of --cuda-graph-trace",
    Need.GPU_NUMBERS: "record it again with nsys 2025.1 or newer, which tells it",
    Need.GRAPH_DEVICES: "record it again with --cuda-graph-trace=node",
}


_OWN_DOMAINS = frozenset({PYTHON_DOMAIN})
_AGAIN = "if they are not empty, record fewer steps"
_AS_NODES = "record it again with --cuda-graph-trace=node, over fewer steps"
_FIRST_WITH_SPANS = 2024
"""Exports of nsys from this year on hold the work of graphs in either mode."""


def recorder(version: str | None, graph_mode: str | None) -> Recorder:
    """Nsys of this version, set to this graph tracing ("node", "graph"; None: not told)."""
    year = (version or "").partition(".")[0]
    exports = year.isdigit() and int(year) >= _FIRST_WITH_SPANS
    if exports or graph_mode == "node":
        told = f"nsys {version}" if version else "this nsys"
        if graph_mode:
            told += f" in {graph_mode} mode"
        return Recorder(
            {**_REMEDIES, Need.GRAPH_WORK: _AGAIN if graph_mode == "node" else _AS_NODES},
            {
                Need.GRAPH_WORK: f"{told} exports graph work, so the graphs are empty, or their "
                "rows were lost"
            },
            _OWN_DOMAINS,
        )
    hidden = f"nsys {version or 'of this version'} exports no graph work in its default mode"
    return Recorder(_REMEDIES, {Need.GRAPH_WORK: hidden}, _OWN_DOMAINS)
