"""Reports for the terminal. The first line is the answer; then a table; then details.

Foreign text (kernel names, range texts) is put into `rich.text.Text`, which reads no markup.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from launchlens.records.comparison import Comparison, KernelChanges, KernelDiff, PhaseComparison
from launchlens.records.figures import Finding
from launchlens.records.measured import Equivalence
from launchlens.render.format import (
    IDLE_BASIS,
    format_interval,
    format_ns,
    format_value,
    gap_bin_label,
    joined,
    phase_title,
    plain,
    sentences,
)
from launchlens.render.provenance import comparison_provenance
from launchlens.render.terminal_metrics import metric_parts, shown_rows
from launchlens.render.terminal_tables import new_table, table_or_lines, to_text

_TOP = 10


def render_comparison(
    comparison: Comparison, *, verbose: bool = False, width: int = 100, color: bool = False
) -> str:
    """A comparison for the terminal.

    Args:
        comparison: the record.
        verbose: all metrics, kernels that changed, histograms, provenance.
        width: columns of the terminal.
        color: emit colour codes.
    """
    parts: list[RenderableType] = [Text(s, style="bold") for s in sentences(comparison)]
    for phase in comparison.phases:
        parts += (
            ["", Text(" ".join(phase_title(comparison, phase)), style="bold")]
            if len(comparison.phases) > 1
            else [""]
        )
        parts += metric_parts(comparison, phase, verbose=verbose, width=width)
        parts += [] if verbose else _kernel_counts(phase)
    parts += _requests(comparison, width)
    parts += _equivalence(comparison)
    parts += _findings(comparison)
    parts += _cautions(comparison)
    parts += ["", Text(_footer(comparison), style="dim")]
    if verbose:
        parts += _details(comparison, width)
    return to_text(parts, width=width, color=color)


def _requests(comparison: Comparison, width: int) -> list[RenderableType]:
    if not any(side.facts.requests for side in comparison.sides):
        return []
    table = new_table(
        "concurrency", "variant", "TTFT", "ITL", "latency", "req/s", "tok/s", numbers_from=2
    )
    for side in comparison.sides:
        for r in side.facts.requests:
            table.add_row(
                str(r.concurrency),
                Text(plain(side.short)),
                format_ns(r.ttft_ns),
                format_value(r.itl_ns, "ns"),
                format_ns(r.latency_ns),
                f"{r.requests_per_s:.1f}",
                f"{r.tokens_per_s:.0f}",
            )
    first = next(side.facts.requests[0] for side in comparison.sides if side.facts.requests)
    heading = f"Requests, untraced (ISL {first.isl}, OSL {first.osl})"
    return ["", Text(heading, style="bold"), table_or_lines(table, width, names=2)]


def _equivalence(comparison: Comparison) -> list[RenderableType]:
    lines = [
        Text(f"{plain(side.short)}: {describe_equivalence(e)}")
        for side in comparison.candidates
        for e in side.facts.equivalence
    ]
    return ["", Text("Outputs beside the baseline's", style="bold"), *lines] if lines else []


def describe_equivalence(e: Equivalence) -> str:
    """One clause about a variant's outputs beside the baseline's."""
    if not e.finite:
        return f"{e.dtype}: outputs are not finite"
    if e.identical:
        return f"{e.dtype}: identical"
    if e.max_abs_diff is None:
        return f"{e.dtype}: not compared"
    top = "" if e.top1_agreement is None else f", same top token in {e.top1_agreement:.0%}"
    return f"{e.dtype}: max abs difference {e.max_abs_diff:.3g}{top}"


def _findings(comparison: Comparison) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for side in comparison.sides:
        if side.findings:
            parts += ["", Text(f"Capture blockers, {plain(side.short)}", style="bold")]
            for f in side.findings:
                parts.append(Text(describe_finding(f)))
                if f.confidence != "cleared":
                    parts.append(Text(f"  remedy: {plain(f.remedy, 400)}", style="dim"))
    return parts


def describe_finding(f: Finding) -> str:
    """One line about a blocker: how many, what, where, how sure."""
    count = format_value(f.count_per_step, "count")
    where = f" at {plain(f.source)}" if f.source else ""
    said = "does not block" if f.confidence == "cleared" else f.confidence
    return f"{count} × {plain(f.title)}{where}: {f.rule}, {said}"


def _cautions(comparison: Comparison) -> list[RenderableType]:
    serious = [d for d in comparison.differences if d.serious]
    parts: list[RenderableType] = []
    if serious:
        parts += ["", Text("These sides differ in more than the change:", style="bold yellow")]
        parts += [Text(f"  {d.what}: {plain(joined(d.values))}") for d in serious]
    if comparison.notes:
        parts += ["", *(Text(f"! {plain(note, 400)}", style="yellow") for note in comparison.notes)]
    return parts


def _footer(comparison: Comparison) -> str:
    phase = comparison.phases[0]
    ran = [n for n, side in zip(phase.steps, comparison.sides, strict=True) if n or side.trace]
    steps = joined([str(n) for n in ran] or ["0"])
    untraced = next((r for r in phase.rows if r.metric == "untraced_ns"), None)
    timed = [str(c.n) for c in untraced.cells if c.value is not None] if untraced else []
    if timed:
        steps += f" traced and {joined(timed)} untraced"
        counts = [
            max((len(u.processes_ns) or 1) for u in s.facts.untraced)
            for s in comparison.sides
            if s.facts.untraced
        ]
        within = (
            f" in {joined([str(n) for n in counts])} processes"
            if max(counts, default=1) > 1
            else ""
        )
    else:
        within = ""
    dropped = sum(phase.dropped)
    left_out = f", {joined([str(n) for n in phase.dropped])} dropped" if dropped else ""
    facts = "; ".join(f"{k} {plain(v)}" for k, v in comparison_provenance(comparison)[:4])
    return f"Medians over {steps} steps{within}{left_out}. {IDLE_BASIS} {facts}."


def _details(comparison: Comparison, width: int) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for phase in comparison.phases:
        parts += _intervals(comparison, phase, width)
        for changes in phase.kernels:
            parts += ["", *_kernel_changes(changes)]
    for side in comparison.sides:
        if side.gap_histogram:
            table = new_table("gap", "count", "time", title=f"Gaps, {plain(side.short)}")
            for gap in side.gap_histogram:
                table.add_row(gap_bin_label(gap), str(gap.count), format_ns(gap.total_ns))
            parts += ["", table]
        if side.gap_followers:
            title = f"Idle after, {plain(side.short)}"
            table = new_table("after", "gaps", "idle", "runs", title=title)
            for f in side.gap_followers[:_TOP]:
                name = Text(plain(f.name, 90))
                table.add_row(name, str(f.gaps), format_ns(f.idle_ns), str(f.count))
            parts += ["", table]
    table = new_table("provenance", "", numbers_from=2)
    for key, value in comparison_provenance(comparison):
        table.add_row(plain(key), Text(plain(value, 300)))
    return [*parts, "", table]


def _intervals(
    comparison: Comparison, phase: PhaseComparison, width: int
) -> Iterable[RenderableType]:
    names = [side.short for side in comparison.sides]
    table = new_table("95% interval of the median", *names)
    for row in shown_rows(phase, verbose=True):
        if row.unit in ("ns", "fraction"):
            table.add_row(
                row.title, *(format_interval(c.ci_low, c.ci_high, row.unit) for c in row.cells)
            )
    return ["", table_or_lines(table, width)]


def _kernel_counts(phase: PhaseComparison) -> list[RenderableType]:
    """How many kernels differ, a line for each candidate; ``-v`` lists them."""
    return [
        Text(
            f"* kernels, {plain(c.candidate)}: {len(c.added)} added, {len(c.removed)} removed, "
            f"{len(c.changed)} run another number of times; -v lists them",
            style="dim",
        )
        for c in phase.kernels
        if c.known and (c.added or c.removed or c.changed)
    ]


def _kernel_changes(changes: KernelChanges) -> list[RenderableType]:
    candidate = plain(changes.candidate)
    if not changes.known:
        return [Text(f"Kernels of {candidate}: unknown ({plain(changes.reason or '', 400)})")]
    title = Text(
        f"Kernels of {candidate}: {len(changes.added)} added, {len(changes.removed)} "
        f"removed, {len(changes.changed)} run another number of times",
        style="bold",
    )
    table = new_table("kernel (per step)", "before", "after", "time before", "time after")
    for mark, diffs in (("+", changes.added), ("-", changes.removed), ("~", changes.changed)):
        for diff in diffs[:_TOP]:
            _add_kernel(table, mark, diff)
    return [title, table] if table.row_count else [title]


def _add_kernel(table: Table, mark: str, diff: KernelDiff) -> None:
    table.add_row(
        Text(f"{mark} {plain(diff.name, 70)}"),
        format_value(diff.baseline_count, "count"),
        format_value(diff.candidate_count, "count"),
        format_ns(diff.baseline_ns),
        format_ns(diff.candidate_ns),
    )
