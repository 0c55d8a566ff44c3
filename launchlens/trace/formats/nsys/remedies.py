"""What a recording of nsys may lack, and the options that bring it."""

from __future__ import annotations

from launchlens.records.recorder import Need, Recorder

_REMEDIES = {
    Need.CALLS: "record it with nsys profile -t cuda,nvtx on a machine with a GPU",
    Need.EVENTS: "record it again with nsys profile -t cuda,nvtx",
    Need.RANGES: "record it again with nsys profile -t cuda,nvtx and a range around each forward "
    "step",
    Need.GRAPH_WORK: "record it again with --cuda-graph-trace=node, or with a newer nsys (2025.3 "
    "exports it)",
    Need.GRAPH_NODES: "for counts of operations record with --cuda-graph-trace=node",
    Need.ONE_GRAPH_TRACING: "record it with one setting of --cuda-graph-trace",
    Need.GRAPH_DEVICES: "record it again with --cuda-graph-trace=node",
}


def recorder(version: str | None) -> Recorder:
    """Nsys of this version."""
    hidden = f"nsys {version or 'of this version'} exports no graph work in its default mode"
    return Recorder(_REMEDIES, {Need.GRAPH_WORK: hidden})
