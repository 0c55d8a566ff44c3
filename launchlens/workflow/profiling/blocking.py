"""Capture attempts in child processes, and findings of a trace confirmed or cleared by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from launchlens.errors import HarnessError
from launchlens.harness.variants.eager import Eager
from launchlens.protocol.result import AnyResult, AttemptResult, DispatchResult, read_result
from launchlens.protocol.spec import Mode
from launchlens.protocol.step import Attempt, BlockerMet, CopyEvent
from launchlens.records.blocking import CaptureAttempt, CaptureBlocker
from launchlens.records.figures import Finding
from launchlens.records.measured import shortened
from launchlens.store import RunFolder
from launchlens.workflow.load import Loaded
from launchlens.workflow.profiling.plan import Plan, child_command, stem_of
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
    from launchlens.capture import describe_exit, last_line, run_plain

    stem = stem_of(f"{mode}{plan.suffix}.{len(patched)}")
    spec = replace(
        plan.spec,
        mode=mode,
        variant=Eager.name,
        device=plan.device,
        osl=None,
        concurrency=(),
        equivalence_dtypes=(),
        patched_sources=patched,
        result_path=str(run.results / f"{stem}.json"),
    )
    spec_file = run.results / f"{stem}.spec.json"
    spec_file.write_text(spec.to_json(), "utf-8")
    log = run.logs / f"{stem}.log"
    program = child_command(spec_file)
    run.record_command(f"{mode}{plan.suffix}", program)
    code = run_plain(program, log=log, timeout_s=plan.timeout_s)
    result = read_result(Path(spec.result_path), kind)
    if result is None or result.error is not None:
        error = result.error if result else None
        said = error.message if error else last_line(log) or f"it ended with {describe_exit(code)}"
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
        blockers=tuple(
            CaptureBlocker(
                order=b.order,
                source=b.source,
                error_type=b.error_type,
                error_line=b.error_line,
                bytes=b.bytes,
                count=b.count,
                hint=b.hint,
            )
            for b in attempt.blockers
        ),
        patched_sources=attempt.patched_sources,
        stopped=attempt.stopped,
        complete=attempt.stop_code != "first-failure",
    )


def findings_with(loaded: Loaded, tried: Tried) -> tuple[Finding, ...]:
    """Findings of a trace with source lines from the attempt's operators, confirmed by it."""
    from launchlens.blockers import find_blockers

    return find_blockers(
        loaded.trace, loaded.analysis.steps, dispatch_events=tried.events, attempt=tried.attempt
    )
