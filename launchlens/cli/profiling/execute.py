"""Runs a plan: an untraced child and traced children for each variant, all saved at once."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from launchlens.cli.inputs import Choices, Loaded, load
from launchlens.cli.profiling.gather import equivalence_of, facts_of, failure_of, read_result
from launchlens.cli.profiling.plan import Plan, child_command, stem_of
from launchlens.cli.profiling.progress import Progress
from launchlens.cli.sides import LoadedSide
from launchlens.errors import CaptureError
from launchlens.model.comparison import SideInput
from launchlens.model.measured import Failure, VariantFacts

if TYPE_CHECKING:
    from launchlens.capture import Nsys
    from launchlens.harness.spec import HarnessSpec
    from launchlens.store import RunFolder

Status = Literal["ok", "failed", "error"]


@dataclass(slots=True)
class Outcome:
    """What one variant's children brought."""

    variant: str
    status: Status
    facts: VariantFacts
    traces: dict[str, Loaded] = field(default_factory=dict)
    result: dict[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> Loaded | None:
        """The trace for counts and kernels."""
        for kind in ("node", "none", "graph"):
            if kind in self.traces:
                return self.traces[kind]
        return None

    @property
    def timing(self) -> Loaded | None:
        """The whole-graph trace, for times, where there is another one for counts."""
        return self.traces.get("graph") if "node" in self.traces else None

    def side(self, model: str) -> LoadedSide:
        """This outcome as a side of a comparison."""
        counts, timing = self.counts, self.timing
        return LoadedSide(
            SideInput(
                label=f"{model}-{self.variant}",
                analysis=counts.analysis if counts else None,
                timing=timing.analysis if timing else None,
                facts=self.facts,
            ),
            counts,
        )


class Execution:
    """Runs the variants of a plan, one after the other, into a run folder."""

    def __init__(
        self, plan: Plan, run: RunFolder, nsys: Nsys, progress: Progress, facts: dict[str, Any]
    ) -> None:
        self._plan = plan
        self._run = run
        self._nsys = nsys
        self._progress = progress
        self._commit = facts.get("commit")
        self._versions = {"nsys": nsys.version_text, "launchlens": version("launchlens")}

    def run_variants(self) -> list[Outcome]:
        """All variants; one that fails leaves the others to go on."""
        outcomes: list[Outcome] = []
        for variant in self._plan.variants:
            outcome = self._run_variant(variant)
            if outcomes and outcome.status == "ok":
                outcome.facts = self._with_equivalence(outcome)
            outcomes.append(outcome)
            self._save(outcome)
        return outcomes

    def _run_variant(self, variant: str) -> Outcome:
        spec = self._plan.time_spec(variant, self._run.results)
        kinds = self._plan.trace_kinds(variant)
        with self._progress.stage(f"{variant}: untraced"):
            result, log, command = self._run_untraced(variant, spec)
        facts = replace(
            facts_of(result, command=command, versions=self._versions), commit=self._commit
        )
        self._describe(result)
        status: Status = result["status"]
        if status != "ok":
            failure = failure_of(result, log)
            self._progress.skip(len(kinds))
            assert failure is not None
            self._progress.say(f"{variant} {_word(status)}: {failure.error_line}")
            return Outcome(variant, status, replace(facts, failure=failure), result=result)
        outcome = Outcome(variant, "ok", facts, result=result)
        for kind in kinds:
            with self._progress.stage(f"{variant}: nsys, {_describe_kind(kind)}"):
                self._trace(outcome, variant, kind)
        return outcome

    def _run_untraced(self, variant: str, spec: HarnessSpec) -> tuple[dict[str, Any], Path, str]:
        from launchlens.capture import last_line, run_plain

        log = self._run.logs / f"{stem_of(variant)}.untraced.log"
        program = child_command(self._write_spec(spec))
        self._run.record_command(f"{variant}: untraced", program)
        code = run_plain(program, log=log, timeout_s=self._plan.timeout_s)
        result = read_result(Path(spec.result_path))
        if result is None:
            said = last_line(log) or "it printed nothing"
            result = _crashed(spec, f"the process ended with {code}: {said}")
        return result, log, shlex.join(program)

    def _trace(self, outcome: Outcome, variant: str, kind: str) -> None:
        """Record, export and read one trace; what cannot be traced leaves the variant untraced."""
        from launchlens.capture import record

        spec = self._plan.trace_spec(variant, kind, self._run.results)
        output = self._run.traces / f"{stem_of(variant)}.{kind}"
        on_gpu = self._plan.device == "cuda"
        try:
            recording = record(
                self._nsys,
                child_command(self._write_spec(spec)),
                output=output,
                log=self._run.logs / f"{stem_of(variant)}.{kind}.log",
                timeout_s=self._plan.timeout_s,
                graph_trace=kind if on_gpu else None,  # type: ignore[arg-type]
                trace=("cuda", "nvtx") if on_gpu else ("nvtx",),
                capture_range=on_gpu,
                stacks=self._plan.stacks,
                extra=self._plan.nsys_args,
            )
        except CaptureError as error:
            if kind == "graph" and "node" in outcome.traces:
                self._progress.say(f"{variant}: no whole-graph trace: {error}")
                return
            raise
        self._run.record_command(f"{variant}: {kind}", recording.command)
        result = read_result(Path(spec.result_path))
        if result is None or result["status"] != "ok":
            failure = failure_of(result, recording.log) if result else None
            said = failure.error_line if failure else f"see {recording.log}"
            raise CaptureError(
                f"{variant}: the traced run failed although the untraced one ran: {said}."
            )
        outcome.traces[kind] = load(recording.sqlite, Choices())

    def _with_equivalence(self, outcome: Outcome) -> VariantFacts:
        baseline = self._run.results / f"{stem_of(self._plan.variants[0])}.outputs.npz"
        own = self._run.results / f"{stem_of(outcome.variant)}.outputs.npz"
        return replace(outcome.facts, equivalence=equivalence_of(baseline, own))

    def _save(self, outcome: Outcome) -> None:
        self._run.save_variant(outcome.variant, outcome.status, outcome.facts)
        for kind, loaded in outcome.traces.items():
            trace = self._run.traces / loaded.analysis.trace.file
            self._run.save_steps(outcome.variant, kind, trace, loaded.analysis)

    def _describe(self, result: dict[str, Any]) -> None:
        environment = result.get("environment") or {}
        model = result.get("model") or {}
        known = {
            name: environment.get(name)
            for name in ("torch", "transformers", "cuda", "python")
            if environment.get(name)
        }
        if model.get("config_digest"):
            known["config_digest"] = model["config_digest"]
        self._run.describe(known)

    def _write_spec(self, spec: HarnessSpec) -> Path:
        path = Path(spec.result_path).with_suffix(".spec.json")
        path.write_text(spec.to_json(), "utf-8")
        return path


def _crashed(spec: HarnessSpec, said: str) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "status": "error",
        "spec": asdict(spec),
        "error": {"type": "ProcessError", "message": said, "hint": None},
    }


def _word(status: Status) -> str:
    return "could not be captured" if status == "failed" else "could not be run"


def _describe_kind(kind: str) -> str:
    return {"node": "graph nodes", "graph": "whole graphs"}.get(kind, "NVTX ranges")


def failures_of(outcomes: list[Outcome]) -> list[Failure]:
    """Failures of all variants, in order."""
    return [o.facts.failure for o in outcomes if o.facts.failure is not None]
