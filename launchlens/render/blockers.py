"""Blockers of capture as text and Markdown. The first line is the answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from launchlens.records.blocking import BlockerReport, CaptureAttempt, PatchEffect
from launchlens.records.figures import Finding
from launchlens.render.format import (
    format_ns,
    format_value,
    format_verdict,
    markdown_text,
    plain,
)
from launchlens.render.terminal import describe_equivalence
from launchlens.render.terminal_tables import to_text

_VERDICTS = {
    "confirmed": "blocks capture (confirmed)",
    "likely": "likely blocks capture",
    "suspected": "may block capture (suspected)",
    "cleared": "does not block capture",
}
_STYLES = {"confirmed": "bold red", "likely": "red", "suspected": "yellow", "cleared": "green"}
_LONG = 400
_FRAMES = 6
_PYTHON = re.compile(r"\.py:\d")
_FOLDERS = re.compile(r"\S*/(?=[^/\s]+:\d)")


def blocker_sentence(report: BlockerReport) -> str:
    """How many synchronizing copies there are, and whether the step can be captured."""
    kind = f"{report.phases[0]} step" if len(report.phases) == 1 else "step"
    parts = []
    copies = report.copies_per_step
    for phase, count in copies.items():
        noun = "synchronizing copy" if count == 1 else "synchronizing copies"
        where = "step" if phase == "unknown" else f"{phase} step"
        parts.append(f"{format_value(count, 'count')} {noun} in each {where}")
    others = [f for f in report.findings if not f.copies]
    open_ones = [f for f in others if not f.silent and f.confidence != "cleared"]
    if open_ones:
        said = _findings(len(open_ones), other=bool(copies))
        parts.append(said if copies else f"{said} that may keep the {kind} from being captured")
    if silent := [f for f in others if f.silent]:
        parts.append(f"{_findings(len(silent))} that may make replays go wrong silently")
    if cleared := [f for f in others if not f.silent and f.confidence == "cleared"]:
        verb = "does" if len(cleared) == 1 else "do"
        parts.append(f"{_findings(len(cleared))} that {verb} not block")
    if not parts and report.captured:
        parts.append(
            f"nothing found around the CUDA graphs that the {kind} launches; what is inside them "
            "shows no blockers, an eager trace does"
        )
    elif not parts:
        parts.append(f"nothing found that would block the capture of the {kind}")
    said = ", ".join(parts)
    return f"{report.label}: {said}{_capture_clause(report.attempt)}."


def _findings(count: int, *, other: bool = False) -> str:
    return f"{count} {'other ' if other else ''}finding{'s' if count > 1 else ''}"


def _capture_clause(attempt: CaptureAttempt | None) -> str:
    if attempt is None:
        return ""
    if attempt.as_it_stands:
        return "; the step captures as it stands"
    first = attempt.blockers[0] if attempt.blockers else None
    where = f" at {first.source}" if first and first.source else ""
    lines = len(attempt.patched_sources)
    if attempt.captured:
        noun = "line" if lines == 1 else "lines"
        return f"; capture fails{where}, and succeeds with {lines} {noun} patched over"
    return f"; capture fails{where}"


def describe_line(finding: Finding) -> str:
    """A finding in a line: how many, what, where, and what it does to a capture."""
    where = f", {plain(finding.source)}" if finding.source else ""
    count = format_value(finding.count_per_step, "count")
    varies = "" if finding.stable else " (differs between steps)"
    return f"{count} × {finding.title}{varies}{where}: {verdict_words(finding)}"


def verdict_words(finding: Finding) -> str:
    """What a finding does to a capture, and how sure that is."""
    if finding.silent and finding.confidence != "confirmed":
        return f"may make replays go wrong silently ({finding.confidence})"
    return _VERDICTS[finding.confidence]


def _cost(finding: Finding) -> str:
    parts = []
    if finding.host_ns is not None:
        parts.append(f"the thread waits {format_ns(finding.host_ns)} in each step")
    if finding.idle_ns is not None:
        parts.append(f"GPU idle from there to the next work {format_ns(finding.idle_ns)}")
    return ", ".join(parts)


def _lines_of(finding: Finding) -> Iterator[tuple[str, str]]:
    """Titles and texts beneath a finding."""
    if finding.position and not finding.source:
        yield "where", finding.position
    if _cost(finding):
        yield "cost", _cost(finding)
    if finding.note:
        yield "note", finding.note
    if finding.confidence != "cleared":
        yield "remedy", finding.remedy
    if finding.stack:
        yield "stack", " ← ".join(_FOLDERS.sub("", frame) for frame in _shown(finding.stack))


def _shown(stack: Sequence[str]) -> Sequence[str]:
    """The first frames; of native ones alone the outermost too, which names the operator."""
    if len(stack) > _FRAMES and not _PYTHON.search(stack[0]):
        return (*stack[: _FRAMES // 2], "…", *stack[-_FRAMES // 2 :])
    return stack[:_FRAMES]


def render_blockers(report: BlockerReport, *, width: int = 100, color: bool = False) -> str:
    """The report for the terminal."""
    parts: list[RenderableType] = [Text(blocker_sentence(report), style="bold")]
    parts += _finding_parts(report)
    parts += [Text(line) for line in attempt_lines(report)]
    parts += ["", *(Text(f"! {plain(n, _LONG)}", style="yellow") for n in report.notes)]
    if report.patched is not None and report.effect is not None:
        parts += [Text(f"With {plain(report.effect.patch)}:", style="bold")]
        parts += [Text(blocker_sentence(report.patched), style="bold")]
        parts += _finding_parts(report.patched)
        parts += [Text(line) for line in attempt_lines(report.patched)]
        parts += ["", *(Text(line) for line in effect_lines(report.effect))]
    return to_text(parts, width=width, color=color)


def _finding_parts(report: BlockerReport) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for finding in report.findings:
        said = Text(describe_line(finding), style=_STYLES[finding.confidence])
        parts += ["", said.append(f" [{finding.rule}]", style="dim")]
        parts += [
            Text(f"  {title}: {plain(text, _LONG)}", style="" if title == "remedy" else "dim")
            for title, text in _lines_of(finding)
        ]
    return parts


def attempt_lines(report: BlockerReport) -> list[str]:
    """What a capture attempt met, in order, and how it ended."""
    attempt = report.attempt
    if attempt is None and not report.findings:
        return []
    if attempt is None:
        return [
            "",
            "No capture was tried, so these are suspects: launchlens blockers --model tries one, "
            "on a machine with a GPU.",
        ]
    lines = ["", "Capture attempt:"]
    for b in attempt.blockers:
        what = f" ({b.count} × {b.bytes} bytes)" if b.count and b.bytes is not None else ""
        lines.append(
            f"  {b.order}. {plain(b.source or 'unknown line')}{what}: {plain(b.error_line, 200)}"
        )
    if attempt.as_it_stands:
        lines.append("  the step captures as it stands")
    elif attempt.captured:
        lines.append(f"  with {', '.join(attempt.patched_sources)} patched over, the step captures")
    elif attempt.stopped and attempt.stopped != "first failure":
        lines.append(f"  stopped: {plain(attempt.stopped, _LONG)}")
    return lines


def effect_lines(effect: PatchEffect) -> list[str]:
    """What a patch brought."""
    gone = sum(f.count_per_step for f in effect.gone)
    lines = [
        f"Gone with the patch: {format_value(gone, 'count')} of each step's findings: "
        + ", ".join(_gone(f) for f in effect.gone)
        if gone
        else "The patch takes none of the findings away."
    ]
    if effect.untraced_ns:
        lines += _untraced_lines(effect)
    for name, results in effect.equivalence.items():
        said = "; ".join(describe_equivalence(e) for e in results)
        lines.append(f"  outputs of {name} beside unpatched eager: {said}")
    return lines


def _gone(finding: Finding) -> str:
    where = f" ({plain(finding.source)})" if finding.source else ""
    return f"{format_value(finding.count_per_step, 'count')} × {plain(finding.title)}{where}"


def _untraced_lines(effect: PatchEffect) -> Iterator[str]:
    """Untraced steps: by how much they are shorter, and whether that can be told."""
    base = effect.untraced_ns.get("eager")
    for name, ns in effect.untraced_ns.items():
        said = []
        if base and name != "eager":
            verdict = effect.untraced_verdicts.get(name, "unknown")
            told = {"better": "", "worse": ""}.get(verdict, f", {format_verdict(verdict)}")
            said.append(f"{base / ns:.2f}×{told}")
        if processes := effect.untraced_processes_ns.get(name):
            span = f"{format_ns(min(processes))} to {format_ns(max(processes))}"
            said.append(f"{len(processes)} processes, {span}")
        yield f"  step, untraced, {name}: {format_ns(ns)}" + (
            f" ({'; '.join(said)})" if said else ""
        )
    single = any(n not in effect.untraced_processes_ns for n in effect.untraced_ns)
    if single and "inconclusive" in effect.untraced_verdicts.values():
        yield (
            "  inconclusive: such a step differs by as much between processes; --rounds 5 times "
            "each in five that take turns"
        )


def render_blockers_markdown(report: BlockerReport) -> str:
    """The report as GitHub Markdown."""
    blocks = [markdown_text(blocker_sentence(report), _LONG), _markdown_findings(report)]
    blocks.append(_markdown_list(attempt_lines(report)))
    blocks += [f"> {markdown_text(note, _LONG)}" for note in report.notes]
    if report.patched is not None and report.effect is not None:
        blocks += [f"**With {markdown_text(report.effect.patch)}:**"]
        blocks += [markdown_text(blocker_sentence(report.patched), _LONG)]
        blocks += [_markdown_findings(report.patched)]
        blocks += [_markdown_list(attempt_lines(report.patched))]
        blocks += [_markdown_list(effect_lines(report.effect))]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _markdown_findings(report: BlockerReport) -> str:
    lines = []
    for finding in report.findings:
        lines.append(f"- {markdown_text(describe_line(finding), _LONG)} (`{finding.rule}`)")
        lines += [f"  - {title}: {markdown_text(t, _LONG)}" for title, t in _lines_of(finding)]
    return "\n".join(lines)


def _markdown_list(lines: list[str]) -> str:
    shown = [line for line in lines if line]
    return "\n".join(
        f"  - {markdown_text(line.strip(), _LONG)}"
        if line.startswith("  ")
        else f"- {markdown_text(line, _LONG)}"
        for line in shown
    )
