"""Runs a plan: an untraced child and traced children for each variant, all saved at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from launchlens import capture
from launchlens.capture import Nsys
from launchlens.errors import CaptureError, HarnessError, LaunchlensError, TraceError
from launchlens.harness.variants import as_it_is, one_graph
from launchlens.protocol.result import TimeResult, TraceResult, read_result
from launchlens.protocol.spec import HarnessSpec
from launchlens.records.variant import Failure, VariantFacts
from launchlens.store import RunFolder
from launchlens.workflow.load import Choices, load
from launchlens.workflow.profiling import gather
from launchlens.workflow.profiling.blocking import findings_with, try_capture
from launchlens.workflow.profiling.child import child_command, run_child
from launchlens.workflow.profiling.foretelling import foretell
from launchlens.workflow.profiling.outcome import Outcome, Status
from launchlens.workflow.profiling.plan import Plan
from launchlens.workflow.profiling.progress import Progress
from launchlens.workflow.profiling.turns import take_turns

_HASH = 12  # characters of a commit in reports


class Execution:
    """Runs the variants of a plan, one after the other, into a run folder."""

    def __init__(
        self,
        plan: Plan,
        run: RunFolder,
        nsys: Nsys,
        progress: Progress,
        environment: Mapping[str, Any],
    ) -> None:
        self._plan = plan
        self._run = run
        self._nsys = nsys
        self._progress = progress
        self._commit: dict[str, Any] = {
            "commit": (environment.get("git_commit") or "")[:_HASH] or None,
            "dirty": environment.get("git_dirty"),
        }
        self._versions = {"nsys": nsys.version_text, "launchlens": version("launchlens")}

    def run_variants(self) -> list[Outcome]:
        """All variants in the plan's order; one that fails leaves the others to go on.

        A baseline that left no trace comes behind the first variant that did.
        """
        outcomes: list[Outcome] = []
        for variant in self._plan.variants:
            outcome = self.run_variant(variant)
            baseline = next((o for o in outcomes if o.traces), None)
            if baseline is not None and outcome.status == "ok":
                outcome.facts = self._with_equivalence(outcome, baseline)
            outcomes.append(outcome)
            self.save(outcome)
            foretell(outcome, outcomes, self._run, self._progress)
            if outcome.unbuilt and baseline is None:
                break
        take_turns([(self, outcome) for outcome in outcomes], self._plan.rounds)
        self._explain_failure(outcomes)
        measured = next((o for o in outcomes if o.traces), outcomes[0])
        if measured is not outcomes[0]:
            self._progress.say(f"{measured.variant} is the baseline, as it is the first that ran.")
        return [measured, *(o for o in outcomes if o is not measured)]

    def run_variant(self, variant: str) -> Outcome:
        """One variant: untraced first, then under nsys, unless it cannot be captured."""
        outcome = self.time_variant(variant)
        kinds = self._plan.trace_kinds(variant)
        if outcome.status != "ok":
            self._progress.skip(len(kinds) + self._plan.rounds - 1)
            return outcome
        self.save(outcome)  # if the run is killed now, its untraced times are kept
        for done, kind in enumerate(kinds, 1):
            try:
                with self._progress.stage(f"{self._name(variant)}: nsys, {_describe_kind(kind)}"):
                    self._trace(outcome, variant, kind)
            except (CaptureError, HarnessError, TraceError) as error:
                self._progress.skip(len(kinds) - done)
                self._note_untraced(outcome, kind, error)
                break
        return outcome

    def _note_untraced(self, outcome: Outcome, kind: str, error: LaunchlensError) -> None:
        """A variant that ran but could not be traced keeps what is known of it."""
        log = self._run.logs / f"{outcome.stem}.{kind}.log"
        kind_of, hint = type(error).__name__, error.hint
        failure = Failure(kind_of, error.message, None, hint, str(log), during="trace")
        outcome.status, outcome.facts = "error", replace(outcome.facts, failure=failure)
        self._progress.say(f"{outcome.variant} {failure.words}: {error}")

    def time_variant(self, variant: str) -> Outcome:
        """One variant with no profiler in the process."""
        spec = self._plan.time_spec(variant, self._run.results)
        with self._progress.stage(f"{self._name(variant)}: untraced"):
            result, failure = self._run_untraced(variant, spec, 1)
        facts = replace(self._facts(spec, result), failure=failure)
        status: Status = result.status if result else "error"
        name, stem = self._name(variant), self._plan.stem(variant)
        if failure is not None:
            self._progress.say(f"{name} {failure.words}: {failure.error_line}")
        wrong = gather.wrong_replays(result)
        return Outcome(name, status, facts, stem, result=result, findings=wrong)

    def time_again(self, outcome: Outcome, turn: int) -> None:
        """One more process for the untraced times of a variant; they are pooled with the others."""
        variant = outcome.facts.variant
        assert variant is not None
        spec = self._plan.time_spec(variant, self._run.results, turn)
        with self._progress.stage(f"{outcome.variant}: untraced, round {turn}"):
            result, failure = self._run_untraced(variant, spec, turn)
        if failure is not None:
            said = f"Round {turn} {failure.words}: {failure.error_line}"
            self._progress.say(f"{outcome.variant}: {said}")
            outcome.facts = replace(outcome.facts, notes=(*outcome.facts.notes, said))
        elif result is not None and outcome.result is not None:
            outcome.again.append(result)
            untraced = gather.untraced_of(*(r.steps for r in (outcome.result, *outcome.again)))
            outcome.facts = replace(outcome.facts, untraced=untraced)
        self._run.save_variant(outcome.variant, outcome.status, outcome.facts)

    def trace_variant(self, variant: str) -> Outcome:
        """One variant under nsys alone, where untraced times are not wanted."""
        name, stem = self._name(variant), self._plan.stem(variant)
        outcome = Outcome(name, "ok", VariantFacts(variant=variant), stem)
        kind = self._plan.trace_kinds(variant)[0]
        with self._progress.stage(f"{outcome.variant}: nsys, {_describe_kind(kind)}"):
            result = self._trace(outcome, variant, kind)
        if result is not None:
            outcome.facts = self._facts(result.spec, result)
        return outcome

    def _name(self, variant: str) -> str:
        return variant + self._plan.suffix

    def _explain_failure(self, outcomes: list[Outcome]) -> None:
        """A step that could not be captured as one graph: find out why, from the eager trace."""
        by_name = {outcome.facts.variant: outcome for outcome in outcomes}
        failed, plain = by_name.get(one_graph().name), by_name.get(as_it_is().name)
        if failed is None or failed.status != "failed" or plain is None or plain.counts is None:
            return
        self._progress.add(1)
        try:
            plan = replace(self._plan, spec=replace(self._plan.spec, keep_going=True))
            attempt = try_capture(plan, self._run, self._progress)
        except LaunchlensError as error:
            self._progress.say(f"Its blockers could not be looked for: {error}")
            return
        failed.findings = findings_with(plain.counts, attempt)
        self._run.save_findings(failed.variant, failed.findings)

    def _run_untraced(
        self, variant: str, spec: HarnessSpec, turn: int
    ) -> tuple[TimeResult | None, Failure | None]:
        """One process without a profiler: its answer if it left one, and what went wrong."""
        which = "untraced" if turn == 1 else f"untraced-{turn}"
        log = self._run.logs / f"{self._plan.stem(variant)}.{which}.log"
        title = f"{self._name(variant)}: {which}"
        try:
            result, code = run_child(spec, TimeResult, self._run, title, log, self._plan.timeout_s)
        except (CaptureError, HarnessError) as error:
            return None, _crash(error.message, error.hint, log)
        if result is None:
            said = capture.last_line(log) or "it printed nothing"
            said = f"the process ended with {capture.describe_exit(code)}: {said}"
            return None, _crash(said, None, log)
        return result, gather.failure_of(result, log)

    def _trace(self, outcome: Outcome, variant: str, kind: str) -> TraceResult | None:
        """Record, export and read one trace; returns what the traced child found out."""
        spec = self._plan.trace_spec(variant, kind, self._run.results)
        output = self._run.traces / f"{outcome.stem}.{kind}"
        on_gpu = self._plan.device == "cuda"
        graphs: Any = kind if on_gpu else None
        tracing = capture.Tracing(on_gpu, graphs, self._plan.stacks, self._plan.nsys_args)
        try:
            recording = capture.record(
                self._nsys,
                child_command(spec),
                tracing,
                output=output,
                log=self._run.logs / f"{outcome.stem}.{kind}.log",
                timeout_s=self._plan.timeout_s,
            )
        except CaptureError as error:
            if kind == "graph" and "node" in outcome.traces:
                self._progress.say(f"{variant}: no whole-graph trace: {error}")
                return None
            raise
        self._run.record_command(f"{outcome.variant}: {kind}", recording.command)
        result = read_result(Path(spec.result_path), TraceResult)
        if result is None or result.status != "ok":
            failure = gather.failure_of(result, recording.log) if result else None
            said = failure.error_line if failure else f"see {recording.log}"
            raise CaptureError(
                f"{variant}: the traced run failed although the untraced one ran: {said}."
            )
        outcome.traces[kind] = load(recording.sqlite, Choices())
        return result

    def _with_equivalence(self, outcome: Outcome, baseline: Outcome) -> VariantFacts:
        theirs, own = (self._run.results / f"{one.stem}.outputs.npz" for one in (baseline, outcome))
        beside = gather.equivalence_of(theirs, own, baseline.variant)
        return replace(outcome.facts, equivalence=beside)

    def save(self, outcome: Outcome) -> None:
        """Into the run's folder and the database."""
        self._run.save_variant(outcome.variant, outcome.status, outcome.facts)
        if outcome.findings:
            self._run.save_findings(outcome.variant, outcome.findings)
        for kind, loaded in outcome.traces.items():
            trace = self._run.traces / loaded.analysis.trace.file
            self._run.save_steps(outcome.variant, kind, trace, loaded.analysis)

    def _facts(self, spec: HarnessSpec, result: TimeResult | TraceResult | None) -> VariantFacts:
        """Facts of a variant; what its child told of the machine is kept with the run."""
        facts = gather.facts_of(spec, result, command=self._plan.command, versions=self._versions)
        if result is not None:
            known = result.environment.versions if result.environment else {}
            digest = {"config_digest": result.model.config_digest} if result.model else {}
            self._run.describe({**known, **digest})
        return replace(facts, **self._commit)


def _crash(said: str, hint: str | None, log: Path) -> Failure:
    """A process that left no answer."""
    return Failure("ProcessError", said, None, hint, str(log), during="run")


def _describe_kind(kind: str) -> str:
    return {"node": "graph nodes", "graph": "whole graphs"}.get(kind, "NVTX ranges")
