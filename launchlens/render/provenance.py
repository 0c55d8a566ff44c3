"""Where figures come from: GPU, driver, nsys and export versions, tracing, steps, diagnostics."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.records.comparison import Comparison, Side
from launchlens.records.figures import Analysis, TraceInfo
from launchlens.render.format import UNKNOWN, format_ns, joined

Facts = list[tuple[str, str]]


def comparison_provenance(comparison: Comparison) -> Facts:
    """Facts about all sides; values that all sides share stand once."""
    sides = comparison.sides
    traces = [side.trace for side in sides]
    phase = comparison.phases[0]
    facts: Facts = [
        ("GPU", _of(traces, "gpu")),
        ("driver", _of(traces, "driver")),
        ("nsys", _of(traces, "nsys_version")),
        ("graph tracing", _graph_tracing(sides)),
        ("export schema", _of(traces, "export_schema")),
        ("traces", ", ".join(t.file for t in traces if t) or UNKNOWN),
        ("steps used", joined([str(n) for n in phase.steps])),
        ("steps dropped", joined([str(n) for n in phase.dropped])),
        ("SHA-256", ", ".join((t.sha256 or "not computed")[:16] for t in traces if t)),
    ]
    overhead = [
        "none recorded" if t.profiler_overhead_ns is None else format_ns(t.profiler_overhead_ns)
        for t in traces
        if t
    ]
    facts.append(("profiler overhead", joined(overhead) if overhead else UNKNOWN))
    facts += _run_facts(sides)
    facts += [("diagnostic", text) for text in _diagnostics(traces)]
    facts += [(f"differs: {d.what}", joined(d.values)) for d in comparison.differences]
    return facts


def analysis_provenance(analysis: Analysis) -> Facts:
    """Facts about one trace."""
    trace = analysis.trace
    overhead = trace.profiler_overhead_ns
    return [
        ("GPU", trace.gpu or UNKNOWN),
        ("driver", trace.driver or UNKNOWN),
        ("nsys", trace.nsys_version or UNKNOWN),
        ("export schema", trace.export_schema or UNKNOWN),
        ("graph tracing", trace.graph_tracing or UNKNOWN),
        ("trace", trace.file),
        ("SHA-256", trace.sha256 or "not computed"),
        ("API calls", str(trace.api_calls)),
        ("GPU operations", f"{trace.ops} ({trace.unlinked_ops} without an API row)"),
        ("profiler overhead", "none recorded" if overhead is None else format_ns(overhead)),
        ("steps", f"{len(analysis.steps)}, {analysis.skipped} dropped"),
        *(("diagnostic", text) for text in _diagnostics([trace])),
    ]


def _of(traces: Sequence[TraceInfo | None], name: str) -> str:
    """A fact of all traces; a side that failed has none, and is told of elsewhere."""
    return joined([str(getattr(t, name) or UNKNOWN) for t in traces if t] or [UNKNOWN])


def _graph_tracing(sides: Sequence[Side]) -> str:
    said = []
    for side in sides:
        modes = [t.graph_tracing or UNKNOWN for t in (side.trace, side.timing_trace) if t]
        if modes:
            said.append(" + ".join(modes))
    return joined(said or [UNKNOWN])


def _run_facts(sides: Sequence[Side]) -> Facts:
    facts: Facts = []
    for title, name in (
        ("model", "model"),
        ("layers", "layers_note"),
        ("ISL", "isl"),
        ("OSL", "osl"),
        ("batch", "batch"),
        ("dtype", "dtype"),
        ("commit", "commit_text"),
    ):
        values = [getattr(side.facts, name) for side in sides]
        if any(v is not None for v in values):
            facts.append((title, joined([UNKNOWN if v is None else str(v) for v in values])))
    versions: dict[str, list[str]] = {}
    for side in sides:
        for package, version in side.facts.versions.items():
            versions.setdefault(package, []).append(version)
    facts += [(package, joined(list(dict.fromkeys(v)))) for package, v in versions.items()]
    facts += [
        (f"command, {side.short}", side.facts.command) for side in sides if side.facts.command
    ]
    return facts


def _diagnostics(traces: Sequence[TraceInfo | None]) -> list[str]:
    seen: dict[str, None] = {}
    for trace in traces:
        for d in trace.diagnostics if trace else ():
            times = f" (×{d.count})" if d.count > 1 else ""
            seen[f"{d.severity}: {d.text}{times}"] = None
    return list(seen)
