"""What the children of one variant brought: facts, traces, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from launchlens.harness.variants import built_in
from launchlens.protocol.result import TimeResult
from launchlens.records.comparison import SideInput
from launchlens.records.figures import Finding
from launchlens.records.variant import VariantFacts
from launchlens.workflow.load import Loaded
from launchlens.workflow.sides import LoadedSide, variant_label

Status = Literal["ok", "failed", "error"]


@dataclass(slots=True)
class Outcome:
    """What one variant's children brought."""

    variant: str
    status: Status
    facts: VariantFacts
    stem: str
    traces: dict[str, Loaded] = field(default_factory=dict)
    result: TimeResult | None = None
    again: list[TimeResult] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()

    @property
    def counts(self) -> Loaded | None:
        """The trace for counts and kernels."""
        for kind in ("node", "none", "graph"):
            if kind in self.traces:
                return self.traces[kind]
        return None

    @property
    def unbuilt(self) -> bool:
        """Whether it came no further than the model, so that no other variant can be run.

        A child that was killed says nothing of that, and a user's variant may fail to load.
        """
        told = self.result is not None and self.result.model is None
        known = built_in(self.facts.variant) is not None
        loaded = known or (self.result is not None and self.result.environment is not None)
        return self.status == "error" and told and loaded

    @property
    def timing(self) -> Loaded | None:
        """The whole-graph trace, for times, where there is another one for counts."""
        return self.traces.get("graph") if "node" in self.traces else None

    def side(self, model: str) -> LoadedSide:
        """This outcome as a side of a comparison."""
        counts, timing = self.counts, self.timing
        return LoadedSide(
            SideInput(
                label=variant_label(self.facts, self.variant, otherwise=model),
                analysis=counts.analysis if counts else None,
                timing=timing.analysis if timing else None,
                facts=self.facts,
                findings=self.findings,
            ),
            counts,
        )
