"""Runs a plan: looks before, records, reads, looks over what came, keeps it as a run."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from launchlens import capture
from launchlens.capture import NothingRecordedError, Nsys, Wrapped
from launchlens.errors import CaptureError, StepNotFoundError
from launchlens.private import without_private, without_secrets
from launchlens.records.doctor import Check
from launchlens.records.variant import Failure, VariantFacts
from launchlens.store import RunFolder, create_run, runs_root
from launchlens.streams import note, say
from launchlens.workflow.engine_log import with_engine_log
from launchlens.workflow.load import Choices, Loaded, load
from launchlens.workflow.profiling.run import describe_environment
from launchlens.workflow.running.after import look_over
from launchlens.workflow.running.before import refuse, remarks
from launchlens.workflow.running.plan import RunPlan, command_line

_HASH = 12  # characters of a commit in reports


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a run.

    Attributes:
        run: its name.
        exit_code: what the program ended with.
        loaded: its recording with figures; None where it holds no steps.
        checks: what was expected of the recording.
        why: why there are no figures.
    """

    run: str
    exit_code: int
    loaded: Loaded | None
    checks: tuple[Check, ...]
    why: StepNotFoundError | None = None


def run_plan(
    plan: RunPlan,
    *,
    nsys: Path | None,
    runs: Path | None,
    command: str,
    targets: Sequence[int] = (1, 2),
    tell: Callable[[str], None] = say,
) -> Ran:
    """Run a program under nsys into a run of its own, with figures where it has steps.

    Args:
        plan: of `make_run_plan`.
        nsys: the nsys that was named, if any.
        runs: folder of stored runs, as the option names it.
        command: the command line of launchlens, for the run.
        targets: file descriptors that the program's output goes on to.
        tell: takes lines for the user.

    Raises:
        UsageError: a server is at its port already.
        NothingRecordedError: the program ran, but nothing was recorded.
        CaptureError: no nsys, or the recording cannot be read.
    """
    found = capture.find_nsys(nsys)
    refuse(plan)
    for remark in remarks(plan):
        tell(f"launchlens: {remark}")
    environment = describe_environment(found)
    arguments = {
        "command": "run",
        "words": shown_words(plan.command),
        "name": plan.name,
        "recipe": plan.recipe.name if plan.recipe else None,
    }
    with create_run(
        runs_root(runs), model=plan.model, arguments=arguments, environment=environment
    ) as run:
        facts = _facts(plan, found, environment, command)
        recorded = _record(plan, found, run, facts, targets, tell)
        ran = _read(plan, run, recorded, facts, gpu="gpu" in environment)
    note(f"launchlens: kept as {run.id}:{plan.name} in {run.folder}")
    return ran


def shown_words(words: Sequence[str]) -> list[str]:
    """A command as a run may keep it."""
    return list(without_private(without_secrets(words)))


def _record(
    plan: RunPlan,
    nsys: Nsys,
    run: RunFolder,
    facts: VariantFacts,
    targets: Sequence[int],
    tell: Callable[[str], None],
) -> Wrapped:
    stem = f"{plan.name}.{plan.graphs}"
    output = run.traces / stem
    shown = replace(plan, command=tuple(shown_words(plan.command)))
    run.record_command(plan.name, shlex.split(command_line(shown, nsys, output)))
    try:
        return capture.wrap(
            nsys,
            plan.command,
            plan.tracing,
            output=output,
            log=run.logs / f"{plan.name}.log",
            environment=plan.environment,
            targets=targets,
            timeout_s=plan.timeout_s,
            grace_s=plan.grace_s,
            tell=lambda line: tell(f"launchlens: {line}"),
        )
    except NothingRecordedError as error:
        told = NothingRecordedError(
            error.message, hint=_how_to_record(plan, error), program_code=error.program_code
        )
        _save_failure(plan, run, facts, told)
        raise told from None
    except CaptureError as error:
        _save_failure(plan, run, facts, error)
        raise


def _save_failure(plan: RunPlan, run: RunFolder, facts: VariantFacts, error: CaptureError) -> None:
    log = str(run.logs / f"{plan.name}.log")
    failure = Failure(type(error).__name__, error.message, None, error.hint, log, during="trace")
    run.save_variant(plan.name, "error", replace(facts, failure=failure))


def _how_to_record(plan: RunPlan, error: NothingRecordedError) -> str | None:
    """What makes the engine begin the recording that never began."""
    window = plan.tracing.window
    if error.program_code not in (None, 0) or window is None or window.range is None:
        return error.hint
    if window.range == "nvtx":
        said = f"No range {window.nvtx!r} began on any thread; its whole text is needed."
    elif plan.recipe is not None:
        said = f"{plan.recipe.recording.opens}."
    else:
        said = "The program must call cudaProfilerStart (torch.cuda.profiler.start())."
    node = " Should it hang under node-level tracing: --graph-trace graph."
    return f"{said} Or record all of it: --capture-range none.{node} {error.hint or ''}".rstrip()


def _read(
    plan: RunPlan, run: RunFolder, recorded: Wrapped, facts: VariantFacts, *, gpu: bool
) -> Ran:
    """The recording's figures, and what it lacks; both are saved with the run."""
    whole = plan.recipe is not None and plan.recipe.steps.whole
    pattern = plan.recipe.steps.pattern if plan.recipe else ""
    loaded, why = None, None
    try:
        loaded = load(recorded.sqlite, Choices(step=pattern or None, whole=whole))
    except StepNotFoundError as error:
        why = error
    trace = loaded.trace if loaded else _trace_of(recorded.sqlite)
    checks = look_over(trace, plan, recorded, steps=loaded is not None, gpu=gpu)
    notes = [f"{c.name}: {c.detail}. {c.remedy}" for c in checks if c.status in ("warn", "fail")]
    if recorded.exit_code:
        notes.insert(0, f"The program ended with {capture.describe_exit(recorded.exit_code)}.")
    facts = replace(facts, notes=tuple(without_private(note) for note in notes))
    if loaded is not None:
        analysis = with_engine_log(loaded.analysis, recorded.log, plan.recipe)
        loaded = replace(loaded, analysis=analysis)
        captures = any(state.replayed for state in analysis.replays)
        run.save_variant(plan.name, "ok", replace(facts, captures=captures, prepares=False))
        run.save_steps(plan.name, plan.graphs, recorded.sqlite, analysis)
    else:
        assert why is not None
        failure = Failure("StepNotFoundError", why.message, None, why.hint, during="trace")
        run.save_variant(plan.name, "error", replace(facts, failure=failure))
    return Ran(run.id, recorded.exit_code, loaded, tuple(checks), why)


def _trace_of(file: Path) -> Any:
    from launchlens.trace import read_trace

    return read_trace(file)


def _facts(plan: RunPlan, nsys: Nsys, environment: Mapping[str, Any], command: str) -> VariantFacts:
    return VariantFacts(
        model=without_private(plan.model),
        variant=plan.name,
        command=command,
        commit=(environment.get("git_commit") or "")[:_HASH] or None,
        dirty=environment.get("git_dirty"),
        versions={"nsys": nsys.version_text, "launchlens": version("launchlens")},
    )
