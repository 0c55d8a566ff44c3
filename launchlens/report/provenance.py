"""Where figures come from: GPU, driver, nsys and export versions, tracing, steps, diagnostics."""

from __future__ import annotations

from collections.abc import Sequence

from launchlens.records.comparison import Comparison, Side
from launchlens.records.figures import Analysis, TraceInfo
from launchlens.report.document import Facts
from launchlens.report.findings import describe_equivalence
from launchlens.report.words import UNKNOWN, format_ns, format_value, joined, plain

_HEAD = (
    ("GPU", "gpu"),
    ("driver", "driver"),
    ("recorder", "nsys_version"),
    ("export schema", "export_schema"),
    ("graph tracing", "graph_tracing"),
)
Entries = list[tuple[str, str]]
_TITLE = "provenance"


def comparison_provenance(comparison: Comparison) -> tuple[Facts, ...]:
    """Facts about all sides; for pages also what differs, and each side's own facts."""
    sides = comparison.sides
    names = [side.short for side in sides]
    alike = tuple(
        (d.what, " · ".join(f"{n}: {v}" for n, v in zip(names, d.values, strict=True)))
        for d in comparison.differences
    )
    differing = (Facts("What differs between the sides", alike, "page"),) if alike else ()
    return (
        Facts(_TITLE, tuple(_shared(comparison)), "more"),
        *differing,
        *(_side_facts(side) for side in sides),
    )


def machine_words(comparison: Comparison) -> str:
    """What the figures were measured on and with."""
    return "; ".join(f"{title} {plain(said)}" for title, said in _machine(comparison.sides)) + "."


def _machine(sides: Sequence[Side]) -> Entries:
    traces = [side.trace for side in sides]
    return [*_head(traces)[:3], ("graph tracing", _graph_tracing(sides))]


def _head(traces: Sequence[TraceInfo | None]) -> Entries:
    """Facts of every recording; its version under the format's name, where all have one."""
    formats = {trace.format for trace in traces if trace}
    recorder = formats.pop() if len(formats) == 1 else "recorder"
    return [
        (recorder if title == "recorder" else title, _of(traces, name)) for title, name in _HEAD
    ]


def _shared(comparison: Comparison) -> Entries:
    """Values that all sides share stand once."""
    sides = comparison.sides
    traces = [side.trace for side in sides]
    facts: Entries = [
        *_machine(sides),
        ("export schema", _of(traces, "export_schema")),
        ("traces", ", ".join(t.file for t in traces if t) or UNKNOWN),
    ]
    for phase in comparison.phases[:1]:
        facts.append(("steps used", joined([str(n) for n in phase.steps])))
        facts.append(("steps dropped", joined([str(n) for n in phase.dropped])))
    facts.append(("SHA-256", ", ".join((t.sha256 or "not computed")[:16] for t in traces if t)))
    overhead = [_overhead(t) for t in traces if t]
    facts.append(("profiler overhead", joined(overhead or [UNKNOWN])))
    facts += _run_facts(sides)
    facts += [("diagnostic", text) for text in _diagnostics(traces)]
    facts += [(f"differs: {d.what}", joined(d.values)) for d in comparison.differences]
    return facts


def analysis_provenance(analysis: Analysis) -> tuple[Facts, ...]:
    """Facts about one trace; for pages with the whole digest and CUDA's version."""
    trace = analysis.trace
    return (
        Facts(_TITLE, tuple(_trace_facts(analysis)), "more"),
        Facts(trace.label, _known(_recording(trace)), "page"),
    )


def _trace_facts(analysis: Analysis) -> Entries:
    trace = analysis.trace
    return [
        *_head([trace]),
        ("trace", trace.file),
        ("SHA-256", trace.sha256 or "not computed"),
        ("API calls", str(trace.api_calls)),
        ("GPU operations", f"{trace.ops} ({trace.unlinked_ops} without an API row)"),
        ("profiler overhead", _overhead(trace)),
        ("steps", f"{len(analysis.steps)}, {analysis.skipped} dropped"),
        *(("diagnostic", text) for text in _diagnostics([trace])),
    ]


def _side_facts(side: Side) -> Facts:
    facts = side.facts
    entries: list[tuple[str, str | None]] = [
        ("Model", facts.model),
        ("Variant", facts.variant),
        ("Layers", facts.layers_note),
        ("ISL / OSL", None if facts.isl is None else f"{facts.isl} / {facts.osl or '–'}"),
        ("Batch", None if facts.batch is None else str(facts.batch)),
        ("Data type", facts.dtype),
        ("Commit", facts.commit_text),
        ("Command", facts.command),
        ("Versions", ", ".join(f"{k} {v}" for k, v in facts.versions.items())),
        ("Peak GPU memory", _value(facts.peak_memory_bytes, "bytes")),
        ("Graph memory", _value(facts.graph_memory_bytes, "bytes")),
        ("Capture time", _value(facts.capture_ns, "ns")),
        *(("Outputs", describe_equivalence(one)) for one in facts.equivalence),
    ]
    if failure := facts.failure:
        entries += [
            ("Failed", f"{failure.error_type}: {failure.error_line}"),
            ("Failed at", failure.source),
            ("What to do", failure.hint),
            ("Log", failure.log),
        ]
    for trace, words in ((side.trace, ""), (side.timing_trace, " for times")):
        entries += _recording(trace, words) if trace else ()
    return Facts(side.label, _known(entries) or (("Trace", "none"),), "page")


def _recording(trace: TraceInfo, words: str = "") -> list[tuple[str, str | None]]:
    """What is known of a recording."""
    return [
        (f"Trace{words}", trace.file),
        ("SHA-256", trace.sha256),
        ("GPU", trace.gpu),
        ("Driver", trace.driver),
        ("CUDA driver", trace.cuda_driver),
        (trace.format, trace.nsys_version),
        ("Export schema", trace.export_schema),
        ("Graph tracing", trace.graph_tracing),
        ("API calls / GPU operations", f"{trace.api_calls:,} / {trace.ops:,}"),
        ("Operations without an API call", _value(trace.unlinked_ops or None, "count")),
        ("Profiler's own pauses", _value(trace.profiler_overhead_ns, "ns")),
        *((f"{trace.format} {d.severity}", f"{d.text} (× {d.count})") for d in trace.diagnostics),
        *(("Warning", text) for text in trace.warnings),
    ]


def _known(entries: Sequence[tuple[str, str | None]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, said) for name, said in entries if said)


def _value(number: float | None, unit: str) -> str | None:
    return None if number is None else format_value(number, unit)


def _of(traces: Sequence[TraceInfo | None], name: str) -> str:
    """A fact of all traces; a side that failed has none, and is told of elsewhere."""
    return joined([str(getattr(t, name) or UNKNOWN) for t in traces if t] or [UNKNOWN])


def _overhead(trace: TraceInfo) -> str:
    ns = trace.profiler_overhead_ns
    return "none recorded" if ns is None else format_ns(ns)


def _graph_tracing(sides: Sequence[Side]) -> str:
    said = []
    for side in sides:
        modes = [t.graph_tracing or UNKNOWN for t in (side.trace, side.timing_trace) if t]
        if modes:
            said.append(" + ".join(modes))
    return joined(said or [UNKNOWN])


def _run_facts(sides: Sequence[Side]) -> Entries:
    facts: Entries = []
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
