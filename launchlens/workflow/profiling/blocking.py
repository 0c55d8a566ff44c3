"""Capture attempts in child processes, and findings of a trace confirmed or cleared by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from launchlens.errors import HarnessError
from launchlens.records.blocking import CaptureAttempt, CaptureBlocker
from launchlens.records.measured import shortened
from launchlens.workflow.profiling.gather import read_result
from launchlens.workflow.profiling.plan import Plan, child_command, stem_of

if TYPE_CHECKING:
    from launchlens.protocol.spec import Mode
    from launchlens.records.figures import Finding
    from launchlens.store import RunFolder
    from launchlens.workflow.load import Loaded
    from launchlens.workflow.profiling.progress import Progress

MOST_PROCESSES = 12
"""Fresh processes for one attempt: a failed capture can break the CUDA context of its own."""


def try_capture(plan: Plan, run: RunFolder, progress: Progress) -> dict[str, Any]:
    """Try to capture the prefill step; every confirmed copy is patched over and tried again.

    On a CPU nothing can be captured: the operators that copy or wait are listed alone.

    Returns:
        The harness's ``attempt`` object; without a GPU one of ``events`` only. With ``notes``,
        what the harness says of the model, and how it was ``shortened``.

    Raises:
        HarnessError: the child could not run.
    """
    if plan.device == "cpu":
        with progress.stage(f"eager{plan.suffix}: operators that copy or wait"):
            result = _run(plan, run, "dispatch", ())
        return {"events": result["events"]} | _of_model(result)
    blockers: list[dict[str, Any]] = []
    patched: tuple[str, ...] = ()
    attempt: dict[str, Any] = {}
    with progress.stage(f"cudagraph{plan.suffix}: capture attempt"):
        for _ in range(MOST_PROCESSES):
            result = _run(plan, run, "attempt", patched)
            attempt = result["attempt"] | _of_model(result)
            met = [b for b in attempt["blockers"] if b["source"] not in patched]
            blockers += [b | {"order": len(blockers) + i} for i, b in enumerate(met, 1)]
            grown = tuple(
                dict.fromkeys([*patched, *(b["source"] for b in blockers if b["source"])])
            )
            if attempt["captured"] or grown == patched or not _goes_on(attempt):
                break
            patched = grown
    return attempt | {"blockers": blockers}


def _of_model(result: dict[str, Any]) -> dict[str, Any]:
    model = result["model"]
    cut = shortened(model["layers_note"], model.get("layers"), model.get("model_layers"))
    return {"notes": result["notes"], "shortened": cut}


def _goes_on(attempt: dict[str, Any]) -> bool:
    return "in a new process" in (attempt.get("stopped") or "")


def _run(plan: Plan, run: RunFolder, mode: Mode, patched: tuple[str, ...]) -> dict[str, Any]:
    from launchlens.capture import describe_exit, last_line, run_plain

    stem = stem_of(f"{mode}{plan.suffix}.{len(patched)}")
    spec = replace(
        plan.spec,
        mode=mode,
        variant="eager",
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
    result = read_result(Path(spec.result_path))
    if result is None or result["status"] == "error":
        error = (result or {}).get("error") or {}
        said = error.get("message") or last_line(log) or f"it ended with {describe_exit(code)}"
        what = "the capture attempt" if mode == "attempt" else "listing the step's operators"
        which = " with the patch" if plan.suffix else ""
        raise HarnessError(
            f"{what}{which} failed: {said.rstrip('.')}.",
            hint=error.get("hint") or f"Its output is in {log}.",
        )
    return result


def attempt_record(attempt: dict[str, Any]) -> CaptureAttempt | None:
    """The attempt as reported; None where only operators were listed."""
    if "captured" not in attempt:
        return None
    return CaptureAttempt(
        captured=attempt["captured"],
        blockers=tuple(
            CaptureBlocker(
                order=b["order"],
                source=b["source"],
                error_type=b["error_type"],
                error_line=b["error_line"],
                bytes=b["bytes"],
                count=b["count"],
                hint=b["hint"],
            )
            for b in attempt["blockers"]
        ),
        patched_sources=tuple(attempt["patched_sources"]),
        stopped=attempt["stopped"],
    )


def findings_with(loaded: Loaded, attempt: dict[str, Any]) -> tuple[Finding, ...]:
    """Findings of a trace with source lines from the attempt's operators, confirmed by it."""
    from launchlens.blockers import find_blockers

    tried = attempt if "captured" in attempt else None
    return find_blockers(
        loaded.trace, loaded.analysis.steps, dispatch_events=attempt["events"], attempt=tried
    )
