"""From the answers of child processes to `VariantFacts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from launchlens.blockers.replays import find_in_replays
from launchlens.harness.equivalence import compare_outputs
from launchlens.harness.variants import built_in
from launchlens.metrics.statistics import pool_processes
from launchlens.protocol.result import Result, TimeResult, TraceResult
from launchlens.protocol.spec import HarnessSpec
from launchlens.protocol.step import StepPhase
from launchlens.protocol.timings import TimedRequests, TimedSteps, UntimedRequests
from launchlens.records.blocking import CaptureBlocker, ReplayCheck
from launchlens.records.figures import Finding
from launchlens.records.variant import Equivalence, Failure, RequestFigures, Untraced, VariantFacts

_Record = TypeVar("_Record", RequestFigures, CaptureBlocker, ReplayCheck)


def facts_of(
    spec: HarnessSpec,
    result: TimeResult | TraceResult | None,
    *,
    command: str | None,
    versions: Mapping[str, str],
) -> VariantFacts:
    """What a variant's child found out; what was asked of it, where it left no answer."""
    variant = built_in(spec.variant)
    facts = VariantFacts(
        model=spec.model,
        variant=spec.variant,
        isl=spec.isl,
        osl=spec.osl,
        batch=spec.batch,
        dtype=spec.dtype,
        weights=spec.weights,
        command=command,
        versions=dict(versions),
        captures=variant.captures if variant else None,
        prepares=variant.prepares if variant else None,
    )
    if result is None:
        return replace(facts, notes=_patch_note(spec))
    model, told = result.model, result.environment
    timed = result if isinstance(result, TimeResult) else None
    return replace(
        facts,
        layers_note=model.layers_note if model else None,
        layers=model.layers if model else None,
        model_layers=model.model_layers if model else None,
        notes=notes_of(result),
        versions={**(told.versions if told else {}), **versions},
        untraced=untraced_of(timed.steps) if timed else (),
        requests=requests_of(timed) if timed else (),
        failure=failure_of(result),
        peak_memory_bytes=result.peak_memory_bytes,
        graph_memory_bytes=result.graph_memory_bytes or None,
        capture_ns=_capture_ns(result),
        captured_phases=tuple(p for p, what in result.captured.items() if what == "captured"),
    )


def notes_of(result: TimeResult | TraceResult) -> tuple[str, ...]:
    """What a report must say of a variant: the program's own notes, and what it could not measure.

    That the model was shortened `VariantFacts.layers_note` says alone.
    """
    notes = list(result.notes)
    notes += _patch_note(result.spec)
    if isinstance(result, TimeResult):
        notes += [
            f"Concurrency {r.concurrency} could not be run: {r.failure.error_line}"
            for r in result.requests
            if isinstance(r, UntimedRequests)
        ]
        notes += [
            f"Whether replays of the {phase} step are right cannot be told: {check.reason}."
            for phase, check in result.replays.items()
            if check.verdict == "unknown"
        ]
        failures = result.outputs.failures if result.outputs else {}
        notes += [f"No outputs in {dtype}: {f.error_line}" for dtype, f in failures.items()]
    return tuple(notes)


def _patch_note(spec: HarnessSpec) -> tuple[str, ...]:
    return (f"With the patch {Path(spec.patch).name}.",) if spec.patch else ()


def untraced_of(*processes: Mapping[StepPhase, TimedSteps]) -> tuple[Untraced, ...]:
    """Step times with no profiler in the process, by phase, of one process or of several."""
    samples: dict[StepPhase, list[tuple[int, ...]]] = {}
    for steps in processes:
        for phase, timed in steps.items():
            samples.setdefault(phase, []).append(timed.samples_ns)
    pooled = {phase: pool_processes(by_process) for phase, by_process in samples.items()}
    return tuple(
        Untraced(phase, wall, tuple(chain(*samples[phase])), medians)
        for phase, (wall, medians) in pooled.items()
    )


def requests_of(result: TimeResult) -> tuple[RequestFigures, ...]:
    """Request-level figures, one for each concurrency that could be run."""
    timed = (r for r in result.requests if isinstance(r, TimedRequests))
    return tuple(same_fields(RequestFigures, r) for r in timed)


def wrong_replays(result: TimeResult | None) -> tuple[Finding, ...]:
    """Findings of phases whose replays compute something else than the eager step."""
    checks = result.replays.items() if result is not None else ()
    return tuple(chain(*(find_in_replays(check, phase) for phase, check in checks)))


def same_fields(kind: type[_Record], source: Any) -> _Record:
    """What a record of launchlens keeps of one of the protocol's: the fields of the same names."""
    return kind(**{field.name: getattr(source, field.name) for field in fields(kind)})


def failure_of(result: Result, log: Path | None = None) -> Failure | None:
    """Why a variant could not be captured, or its program not be run; None where all went well."""
    where = str(log) if log else None
    if (said := result.failure) is not None:
        return Failure(said.error_type, said.error_line, said.source, said.hint, where)
    if (error := result.error) is not None:
        return Failure(error.type, error.message, None, error.hint, where, during="run")
    return None


def _capture_ns(result: TimeResult | TraceResult) -> int | None:
    """Time to prepare the prefill step (warm-up, capture, compilation); None for eager."""
    if result.captured.get("prefill") in (None, "eager"):
        return None
    return result.prepare_ns.get("prefill")


def equivalence_of(
    baseline: Path, candidate: Path, beside: str | None = None
) -> tuple[Equivalence, ...]:
    """A variant's saved outputs beside those of the variant ``beside``, by dtype and phase."""
    if not baseline.exists() or not candidate.exists():
        return ()
    differences = compare_outputs(baseline, candidate)
    several = len({d.phase for d in differences}) > 1
    return tuple(
        Equivalence(
            dtype=f"{d.dtype}, {d.phase}" if several else d.dtype,
            max_abs_diff=d.max_abs_diff,
            identical=bool(d.identical),
            finite=bool(d.baseline_finite) and bool(d.candidate_finite),
            top1_agreement=d.top1_agreement,
            beside=beside,
            tolerance=d.tolerance,
        )
        for d in differences
    )
