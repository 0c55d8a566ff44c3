"""From result files of child processes to `VariantFacts`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from launchlens.harness.variants import built_in
from launchlens.records.figures import Phase
from launchlens.records.measured import (
    Equivalence,
    Failure,
    RequestFigures,
    Untraced,
    VariantFacts,
)

Result = Mapping[str, Any]
_PHASES: dict[str, Phase] = {"prefill": "prefill", "decode": "decode"}


def read_result(path: Path) -> dict[str, Any] | None:
    """A child's result, None where it wrote none (it was killed, or crashed)."""
    try:
        loaded = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return loaded if isinstance(loaded, dict) else None


def facts_of(result: Result, *, command: str, versions: Mapping[str, str]) -> VariantFacts:
    """What the untraced child of a variant found out."""
    spec, model = result["spec"], result.get("model") or {}
    variant = built_in(spec["variant"])
    environment = result.get("environment") or {}
    known = {
        name: str(environment[name])
        for name in ("torch", "transformers", "cuda", "python")
        if environment.get(name)
    }
    return VariantFacts(
        model=model.get("name") or spec["model"],
        variant=spec["variant"],
        isl=spec["isl"],
        osl=spec["osl"],
        batch=spec["batch"],
        dtype=spec["dtype"],
        layers_note=model.get("layers_note"),
        layers=model.get("layers"),
        model_layers=model.get("model_layers"),
        notes=notes_of(result),
        command=command,
        versions={**known, **versions},
        untraced=untraced_of(result),
        requests=requests_of(result),
        failure=failure_of(result),
        peak_memory_bytes=result.get("peak_memory_bytes"),
        graph_memory_bytes=result.get("graph_memory_bytes") or None,
        capture_ns=_capture_ns(result),
        captured_phases=tuple(
            phase for phase, what in (result.get("captured") or {}).items() if what == "captured"
        ),
        captures=variant.captures if variant else None,
        prepares=variant.prepares if variant else None,
    )


def notes_of(result: Result) -> tuple[str, ...]:
    """What a report must say of a variant: the program's own notes, and what it could not measure.

    That the model was shortened is left out: `VariantFacts.layers_note` says it.
    """
    shortened = (result.get("model") or {}).get("layers_note")
    notes = [note for note in result.get("notes") or () if note != shortened]
    if patch := result["spec"].get("patch"):
        notes.append(f"With the patch {Path(patch).name}.")
    notes += [
        f"Concurrency {r['concurrency']} could not be run: {r['failure']['error_line']}"
        for r in result.get("requests") or ()
        if "failure" in r
    ]
    failures = (result.get("outputs") or {}).get("failures") or {}
    notes += [f"No outputs in {dtype}: {f['error_line']}" for dtype, f in failures.items()]
    return tuple(notes)


def untraced_of(*results: Result) -> tuple[Untraced, ...]:
    """Step times with no profiler in the process, by phase, of one process or of several."""
    samples: dict[str, list[list[int]]] = {}
    for result in results:
        for phase, timed in (result.get("steps") or {}).items():
            if timed.get("samples_ns"):
                samples.setdefault(phase, []).append(timed["samples_ns"])
    return tuple(_untraced(_PHASES.get(p, "unknown"), by) for p, by in samples.items())


def _untraced(phase: Phase, by_process: list[list[int]]) -> Untraced:
    """Steps of one process are alike in what the processes differ in: its median counts once."""
    from launchlens.metrics.statistics import describe, few_interval

    everything = [ns for samples in by_process for ns in samples]
    steps = describe(everything, "ns")
    if len(by_process) == 1:
        return Untraced(phase, steps, tuple(everything))
    medians = tuple(round(statistics.median(samples)) for samples in by_process)
    low, high = few_interval(medians)
    wall = replace(steps, median=round(statistics.median(medians)), ci_low=low, ci_high=high)
    return Untraced(phase, wall, tuple(everything), medians)


def requests_of(result: Result) -> tuple[RequestFigures, ...]:
    """Request-level figures, one for each concurrency that could be run."""
    return tuple(
        RequestFigures(
            isl=r["isl"],
            osl=r["osl"],
            concurrency=r["concurrency"],
            ttft_ns=round(r["ttft_ns"]),
            itl_ns=None if r.get("itl_ns") is None else round(r["itl_ns"]),
            latency_ns=round(r["latency_ns"]),
            requests_per_s=r["requests_per_s"],
            tokens_per_s=r["tokens_per_s"],
            repetitions=r["repetitions"],
        )
        for r in result.get("requests") or ()
        if "failure" not in r
    )


def failure_of(result: Result, log: Path | None = None) -> Failure | None:
    """Why a variant could not be captured (status failed) or run (status error)."""
    said = result.get("failure")
    if said:
        return Failure(
            said["error_type"],
            said["error_line"],
            said.get("source"),
            said.get("hint"),
            str(log) if log else None,
        )
    error = result.get("error")
    if error:
        return Failure(
            error["type"],
            error["message"],
            None,
            error.get("hint"),
            str(log) if log else None,
            during="run",
        )
    return None


def _capture_ns(result: Result) -> int | None:
    """Time to prepare the prefill step (warm-up, capture, compilation); None for eager."""
    prepared = result.get("prepare_ns") or {}
    what = (result.get("captured") or {}).get("prefill")
    if what in (None, "eager"):
        return None
    value = prepared.get("prefill")
    return None if value is None else int(value)


def equivalence_of(
    baseline: Path, candidate: Path, beside: str | None = None
) -> tuple[Equivalence, ...]:
    """A variant's saved outputs beside those of the variant ``beside``, by dtype and phase."""
    from launchlens.harness.equivalence import compare_outputs

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
        )
        for d in differences
    )
