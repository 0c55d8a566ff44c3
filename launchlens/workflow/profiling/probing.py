"""``blockers --model``: an eager trace and a capture attempt; with a patch, both again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from launchlens import capture
from launchlens.blockers.events import find_in_events
from launchlens.comparison.processes import judge_untraced
from launchlens.errors import HarnessError, LaunchlensError
from launchlens.harness.variants import as_it_is, one_graph
from launchlens.private import without_private
from launchlens.records.blocking import BlockerReport, PatchEffect
from launchlens.records.figures import Finding, TraceInfo
from launchlens.serialize import to_json
from launchlens.store import RunFolder
from launchlens.workflow.profiling.blocking import Tried, attempt_record, findings_with, try_capture
from launchlens.workflow.profiling.execute import Execution
from launchlens.workflow.profiling.gather import equivalence_of
from launchlens.workflow.profiling.outcome import Outcome
from launchlens.workflow.profiling.plan import Plan
from launchlens.workflow.profiling.progress import Progress
from launchlens.workflow.profiling.run import describe_environment, new_run
from launchlens.workflow.profiling.turns import take_turns
from launchlens.workflow.sides import model_label

_PATCHED = "-patched"
_NOT_CAPTURED = (
    "without a GPU nothing was captured and no copy was traced: these are operators of one step "
    "that would copy or wait."
)
_SCHEMA: Literal["launchlens.blockers/1"] = "launchlens.blockers/1"


def probe_model(
    plan: Plan,
    patch: Path | None,
    nsys: Path | None,
    runs: Path | None,
    tell: Callable[[BlockerReport], None],
) -> BlockerReport:
    """Findings with source lines, a real capture attempt, and with ``patch`` the same again.

    ``tell`` is called with the findings of the unpatched step if the patched one cannot be run;
    ``nsys`` and ``runs`` are as the options name them.

    Raises:
        CaptureError: nsys is missing or recorded nothing.
        HarnessError: the model cannot be built or run.
    """
    found = capture.find_nsys(nsys)
    environment = describe_environment(found)
    progress = Progress(_stages(plan, patch))
    arguments = {"command": "blockers"} | plan.arguments()
    if patch is not None:
        arguments["patch"] = str(patch.absolute())
    with new_run(runs, plan.spec.model, arguments, environment, progress) as run:
        before = Execution(plan, run, found, progress, environment)
        report, eager = _probe(plan, run, before, progress, timed=patch is not None)
        if patch is not None:
            changed = replace(
                plan, spec=replace(plan.spec, patch=str(patch.absolute())), suffix=_PATCHED
            )
            after = Execution(changed, run, found, progress, environment)
            try:
                patched, eager_patched = _probe(changed, run, after, progress, timed=True)
            except LaunchlensError as error:  # what was found without it is kept
                note = f"With {patch.name}: {error}"
                tell(without_private(replace(report, notes=(*report.notes, note))))
                raise
            plain = as_it_is().name
            both = (plain, eager), (f"{plain}, patched", eager_patched)
            outcomes = {name: outcome for name, outcome in both if outcome is not None}
            if patched.attempt is not None and patched.attempt.as_it_stands:
                captured = after.time_variant(one_graph().name)
                after.save(captured)
                outcomes[f"{one_graph().name}, patched"] = captured
            else:
                progress.skip(plan.rounds)
            take_turns(
                [(before if o is eager else after, o) for o in outcomes.values()], plan.rounds
            )
            report = replace(
                report, patched=patched, effect=_effect(patch, report, patched, outcomes, run)
            )
        report = without_private(report)
        (run.folder / "blockers.json").write_text(to_json(report), "utf-8")
    return report


def _stages(plan: Plan, patch: Path | None) -> int:
    if plan.device == "cpu":
        return 2 if patch else 1
    return 4 + 3 * plan.rounds if patch else 2


def _probe(
    plan: Plan, run: RunFolder, execution: Execution, progress: Progress, *, timed: bool
) -> tuple[BlockerReport, Outcome | None]:
    """One eager trace and one capture attempt; with ``timed`` an untraced run before.

    Without a GPU there is nothing to trace and to capture: the step's operators are listed.
    """
    if plan.device == "cpu":
        tried = try_capture(plan, run, progress)
        found = find_in_events(tried.events)
        return _report(plan, tried, ("prefill",), 1, None, found, (_NOT_CAPTURED,)), None
    plain = as_it_is().name
    outcome = execution.run_variant(plain) if timed else execution.trace_variant(plain)
    if outcome.counts is None:
        failure = outcome.facts.failure
        said = f"{failure.words}: {failure.error_line}" if failure else "left no trace."
        raise HarnessError(
            f"eager{plan.suffix} {said}", hint=failure.hint if failure is not None else None
        )
    execution.save(outcome)
    tried = try_capture(plan, run, progress)
    analysis = outcome.counts.analysis
    phases = tuple(dict.fromkeys(s.phase for s in analysis.steps))
    found, notes = findings_with(outcome.counts, tried), analysis.trace.warnings + analysis.notes
    steps = len(analysis.steps)
    return _report(plan, tried, phases, steps, analysis.trace, found, notes), outcome


def _report(
    plan: Plan,
    tried: Tried,
    phases: tuple[str, ...],
    steps: int,
    trace: TraceInfo | None,
    found: tuple[Finding, ...],
    notes: tuple[str, ...],
) -> BlockerReport:
    label = model_label(plan.spec.model, tried.shortened) + plan.suffix
    attempt = None if tried.attempt is None else attempt_record(tried.attempt)
    said = tuple(dict.fromkeys(tried.notes + notes))
    return BlockerReport(_SCHEMA, label, phases, steps, trace, found, attempt=attempt, notes=said)


def _effect(
    patch: Path,
    before: BlockerReport,
    after: BlockerReport,
    outcomes: dict[str, Outcome],
    run: RunFolder,
) -> PatchEffect:
    timed = {name: o.facts.untraced[0] for name, o in outcomes.items() if o.facts.untraced}
    plain = as_it_is().name
    counts = outcomes[plain].counts if plain in outcomes else None
    busy = counts.analysis.summary[0].metrics["busy_ns"].median if counts else None
    untraced = {
        name: int(u.wall_ns.median) for name, u in timed.items() if u.wall_ns.median is not None
    }
    verdicts = {
        name: judge_untraced(timed[plain], u, busy)
        for name, u in timed.items()
        if name != plain and plain in timed
    }
    baseline = run.results / f"{plain}.outputs.npz"
    equivalence = {
        name: equivalence_of(baseline, run.results / f"{outcome.stem}.outputs.npz")
        for name, outcome in outcomes.items()
        if name != plain
    }
    processes = {name: u.processes_ns for name, u in timed.items() if u.processes_ns}
    gone = find_gone(before.findings, after.findings)
    return PatchEffect(patch.name, gone, untraced, equivalence, verdicts, processes)


def find_gone(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings that a patch took away, with how many of each.

    A patch moves lines, so findings are matched by rule, kind and bytes. Of several that are
    alike in these, those at a line that is still there stay first.
    """
    left: Counter[tuple[str, str | None, int | None]] = Counter()
    for f in after:
        left[f.rule, f.kinds, f.bytes] += f.count_per_step  # type: ignore[assignment]
    still = {f.source for f in after}
    gone = {}
    for f in sorted(before, key=lambda f: f.source not in still):
        key = f.rule, f.kinds, f.bytes
        kept = min(left[key], f.count_per_step)
        left[key] -= kept  # type: ignore[assignment]
        if kept < f.count_per_step:
            gone[id(f)] = replace(f, count_per_step=f.count_per_step - kept)
    return tuple(gone[id(f)] for f in before if id(f) in gone)
