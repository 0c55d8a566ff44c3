"""Capture attempts in child processes, and findings of a trace confirmed or cleared by them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from launchlens import capture
from launchlens.blockers import find_blockers
from launchlens.errors import HarnessError
from launchlens.harness.variants import as_it_is
from launchlens.protocol.result import AnyResult, AttemptResult, DispatchResult
from launchlens.protocol.spec import Mode
from launchlens.protocol.step import Attempt, BlockerMet, CopyEvent
from launchlens.records.blocking import CaptureAttempt, CaptureBlocker, ReplayCheck
from launchlens.records.figures import Finding
from launchlens.records.variant import shortened
from launchlens.store import RunFolder
from launchlens.workflow.load import Loaded
from launchlens.workflow.profiling.child import run_child
from launchlens.workflow.profiling.gather import same_fields
from launchlens.workflow.profiling.plan import Plan, stem_of
from launchlens.workflow.profiling.progress import Progress

MOST_PROCESSES = 12
"""Fresh processes for one attempt: a failed capture can break the CUDA context of its own."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What one step does, and whether it could be captured."""

    attempt: Attempt | None
    """The attempt, of all processes together; None where only operators were listed."""
    events: tuple[CopyEvent, ...]
    """Operators of the eager step that copy or wait."""
    notes: tuple[str, ...]
    """What the harness says of the model."""
    shortened: str | None
    """How the model was shortened."""


def try_capture(plan: Plan, run: RunFolder, progress: Progress) -> Tried:
    """Try to capture the prefill step; every confirmed copy is patched over and tried again.

    On a CPU nothing can be captured: the operators that copy or wait are listed alone.

    Raises:
        HarnessError: the child could not run.
    """
    if plan.device == "cpu":
        with progress.stage(f"eager{plan.suffix}: operators that copy or wait"):
            listed = _run(plan, run, DispatchResult, "dispatch", ())
        return _tried(listed, None, tuple(listed.events))
    blockers: list[BlockerMet] = []
    patched: tuple[str, ...] = ()
    attempt: Attempt | None = None
    with progress.stage(f"cudagraph{plan.suffix}: capture attempt"):
        for _ in range(MOST_PROCESSES):
            result = _run(plan, run, AttemptResult, "attempt", patched)
            attempt = result.attempt
            assert attempt is not None
            met = [b for b in attempt.blockers if b.source not in patched]
            blockers += [replace(b, order=len(blockers) + i) for i, b in enumerate(met, 1)]
            grown = tuple(dict.fromkeys([*patched, *(b.source for b in blockers if b.source)]))
            if attempt.captured or grown == patched or attempt.stop_code != "context-broken":
                break
            patched = grown
    assert attempt is not None
    return _tried(result, replace(attempt, blockers=tuple(blockers)), attempt.events)


def _tried(
    result: AttemptResult | DispatchResult, attempt: Attempt | None, events: tuple[CopyEvent, ...]
) -> Tried:
    model = result.model
    assert model is not None
    cut = shortened(model.layers_note, model.layers, model.model_layers)
    return Tried(attempt, events, tuple(result.notes), cut)


def _run(
    plan: Plan, run: RunFolder, kind: type[AnyResult], mode: Mode, patched: tuple[str, ...]
) -> AnyResult:
    stem = stem_of(f"{mode}{plan.suffix}.{len(patched)}")
    spec = replace(
        plan.spec,
        mode=mode,
        variant=as_it_is().name,
        device=plan.device,
        osl=None,
        concurrency=(),
        equivalence_dtypes=(),
        patched_sources=patched,
        result_path=str(run.results / f"{stem}.json"),
    )
    log = run.logs / f"{stem}.log"
    result, code = run_child(spec, kind, run, f"{mode}{plan.suffix}", log, plan.timeout_s)
    if result is None or result.error is not None:
        error = result.error if result else None
        end = capture.last_line(log) or f"it ended with {capture.describe_exit(code)}"
        said = error.message if error else end
        what = "the capture attempt" if mode == "attempt" else "listing the step's operators"
        which = " with the patch" if plan.suffix else ""
        raise HarnessError(
            f"{what}{which} failed: {said.rstrip('.')}.",
            hint=(error.hint if error else None) or f"Its output is in {log}.",
        )
    return result


def attempt_record(attempt: Attempt) -> CaptureAttempt:
    """The attempt as reported."""
    return CaptureAttempt(
        captured=attempt.captured,
        blockers=tuple(same_fields(CaptureBlocker, b) for b in attempt.blockers),
        patched_sources=attempt.patched_sources,
        stopped=attempt.stopped,
        complete=attempt.stop_code != "first-failure",
        replay=same_fields(ReplayCheck, attempt.replay) if attempt.replay is not None else None,
    )


def findings_with(loaded: Loaded, tried: Tried) -> tuple[Finding, ...]:
    """Findings of a trace with source lines from the attempt's operators, confirmed by it."""
    return find_blockers(
        loaded.trace, loaded.analysis.steps, dispatch_events=tried.events, attempt=tried.attempt
    )
