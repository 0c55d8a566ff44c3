"""The report on what blocks the capture of a step. The first line is the answer."""

from __future__ import annotations

from collections.abc import Iterator

from launchlens.plural import counted
from launchlens.records.blocking import BlockerReport, CaptureAttempt, PatchEffect
from launchlens.records.figures import Finding
from launchlens.report.changes import faster
from launchlens.report.document import Below, Block, Document, Findings, Section, Text
from launchlens.report.findings import TITLE, describe_equivalence, finding_item
from launchlens.report.words import LONG, format_ns, format_value, plain, step_words, verdict


def blockers_document(report: BlockerReport) -> Document:
    """What blocks a step's capture, whether it was tried, and what a patch changed."""
    said = (*(f"cannot tell: {why}" for why in report.unseen), *report.notes)
    notes = (Text(said, "caution"),) if said else ()
    sections = [Section("blockers", TITLE, (*_blocks(report), *notes))]
    if report.patched is not None and report.effect is not None:
        blocks: tuple[Block, ...] = (
            Text((f"With {report.effect.patch}:", blocker_sentence(report.patched)), "answer"),
            *_blocks(report.patched),
            Text(tuple(effect_lines(report.effect)), "list"),
        )
        sections.append(Section("patched", f"With {report.effect.patch}", blocks))
    return Document(
        kind="blockers",
        title=f"launchlens: capture blockers of {report.label}",
        answers=(blocker_sentence(report),),
        sections=tuple(sections),
        record=report,
    )


def blocker_sentence(report: BlockerReport) -> str:
    """How many synchronizing copies there are, and whether the step can be captured."""
    kind = step_words(report.phases[0]) if len(report.phases) == 1 else "step"
    parts = []
    copies = report.copies_per_step
    for phase, count in copies.items():
        copy, digits = ("synchronizing copy", "synchronizing copies"), format_value(count, "count")
        parts.append(f"{counted(count, *copy, digits=digits)} in each {step_words(phase)}")
    others = [f for f in report.findings if not f.copies]
    open_ones = [f for f in others if not f.silent and f.confidence != "cleared"]
    if open_ones:
        said = _findings(len(open_ones), other=bool(copies))
        parts.append(said if copies else f"{said} that may keep the {kind} from being captured")
    if wrong := [f for f in others if f.replays_wrong]:
        parts.append(f"{_findings(len(wrong))} of replays that go wrong")
    if silent := [f for f in others if f.silent and not f.replays_wrong]:
        parts.append(f"{_findings(len(silent))} that may make replays go wrong silently")
    if cleared := [f for f in others if not f.silent and f.confidence == "cleared"]:
        verb = "does" if len(cleared) == 1 else "do"
        parts.append(f"{_findings(len(cleared))} that {verb} not block")
    if not parts and report.unseen and report.attempt is None:
        parts.append(f"cannot tell whether anything blocks the capture of the {kind}")
    elif not parts and report.captured:
        parts.append(
            f"nothing found around the CUDA graphs that the {kind} launches; what is inside them "
            "shows no blockers, an eager trace does"
        )
    elif not parts:
        parts.append(f"nothing found that would block the capture of the {kind}")
    return f"{report.label}: {', '.join(parts)}{_capture_clause(report)}."


def _findings(count: int, *, other: bool = False) -> str:
    return counted(count, "other finding" if other else "finding")


def _capture_clause(report: BlockerReport) -> str:
    attempt = report.attempt
    if attempt is None:
        return ""
    replays = _replays_clause(report)
    if attempt.as_it_stands:
        return f"; the step captures{replays or ' as it stands'}"
    first = attempt.blockers[0] if attempt.blockers else None
    where = f" at {first.source}" if first and first.source else ""
    if not attempt.captured:
        return f"; capture fails{where}"
    lines = counted(len(attempt.patched_sources), "line")
    return f"; capture fails{where}, and succeeds with {lines} patched over{replays}"


def _replays_clause(report: BlockerReport) -> str:
    """What is wrong with the replays of a captured step, or not known of them."""
    if wrong := next((f for f in report.findings if f.replays_wrong), None):
        return f", but {plain(wrong.title)}"
    return f", but {plain(report.unproven, LONG)}" if report.unproven else ""


def _blocks(report: BlockerReport) -> Iterator[Block]:
    if report.findings:
        yield Findings("", tuple(finding_item(f) for f in report.findings))
    if report.attempt is not None:
        yield Text(tuple(_attempt_lines(report, report.attempt)), "list")
    elif report.findings:
        said = "launchlens blockers --model tries one, on a machine with a GPU."
        yield Text((f"No capture was tried, so these are suspects: {said}",), "list")


def _attempt_lines(report: BlockerReport, attempt: CaptureAttempt) -> Iterator[str | Below]:
    """What a capture attempt met, in order, and how it ended."""
    yield "Capture attempt:"
    for b in attempt.blockers:
        what = f" ({b.count} × {b.bytes} bytes)" if b.count and b.bytes is not None else ""
        line = f"{plain(b.source or 'unknown line')}{what}: {plain(b.error_line, 200)}"
        yield Below(f"{b.order}. {line}")
    replays = _replays_clause(report)
    if attempt.as_it_stands:
        yield Below(f"the step captures{replays or ' as it stands'}")
    elif attempt.captured:
        over = ", ".join(attempt.patched_sources)
        yield Below(f"with {over} patched over, the step captures{replays}")
    elif attempt.stopped and attempt.complete:
        yield Below(f"stopped: {plain(attempt.stopped, LONG)}")
    if attempt.replay is not None and attempt.replay.verdict == "right":
        beside = f"{attempt.replay.inputs} inputs ({', '.join(attempt.replay.varied)})"
        reason = f"; {plain(attempt.replay.reason, LONG)}" if attempt.replay.reason else ""
        yield Below(f"replays compute what the eager step does on {beside}{reason}")


def effect_lines(effect: PatchEffect) -> Iterator[str | Below]:
    """What a patch brought."""
    gone = sum(f.count_per_step for f in effect.gone)
    if gone:
        told = ", ".join(_gone(f) for f in effect.gone)
        count = format_value(gone, "count")
        yield f"Gone with the patch: {count} of each step's findings: {told}"
    else:
        yield "The patch takes none of the findings away."
    if effect.untraced_ns:
        yield from _untraced_lines(effect)
    for name, results in effect.equivalence.items():
        said = "; ".join(describe_equivalence(e) for e in results)
        yield Below(f"outputs of {name} beside unpatched eager: {said}")


def _gone(finding: Finding) -> str:
    where = f" ({plain(finding.source)})" if finding.source else ""
    return f"{format_value(finding.count_per_step, 'count')} × {plain(finding.title)}{where}"


def _untraced_lines(effect: PatchEffect) -> Iterator[Below]:
    """Untraced steps: by how much they are shorter, and whether that can be told."""
    judged = effect.untraced_verdicts
    base = next((effect.untraced_ns[n] for n in effect.untraced_ns if n not in judged), None)
    for name, ns in effect.untraced_ns.items():
        said = []
        if base and name in judged:
            told = "" if judged[name] in ("better", "worse") else f", {verdict(judged[name])}"
            said.append(f"{faster(base, ns)}{told}")
        if processes := effect.untraced_processes_ns.get(name):
            span = f"{format_ns(min(processes))} to {format_ns(max(processes))}"
            said.append(f"{counted(len(processes), 'process', 'processes')}, {span}")
        behind = f" ({'; '.join(said)})" if said else ""
        yield Below(f"step, untraced, {name}: {format_ns(ns)}{behind}")
    single = any(n not in effect.untraced_processes_ns for n in effect.untraced_ns)
    if single and "inconclusive" in effect.untraced_verdicts.values():
        yield Below(
            "inconclusive: such a step differs by as much between processes; --rounds 5 times "
            "each in five that take turns"
        )
