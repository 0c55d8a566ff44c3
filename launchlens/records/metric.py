"""`Metric`: what is said of a figure, once, beside its field."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal, get_args

Unit = Literal["count", "ns", "fraction", "bytes", "per_s"]
Bound = Literal["lower", "upper"]
Effect = Literal["lower", "upper", "unknown"]
"""What a flaw makes of a figure: a bound of the true one, or nothing that could be stood behind."""
Owner = Literal["step", "side", "request"]
Role = Literal["step", "idle", "launches", "busy", "memory", "kernels"]
"""What a figure is to a reader in a hurry, in the order in which short tables show them."""
ROLES: tuple[Role, ...] = get_args(Role)


class Flaw(Enum):
    """What the rows of a step may lack, so that figures are bounds or unknown."""

    SPANS = "graphs are traced as whole spans, which count as busy throughout"
    NAMES = "calls have no name, or cannot be given to a step"
    LISTS = "calls of names that no list has launched kernels"
    LOSSES = "the recorder says that events were lost"
    ROWS = "launches have no operation"
    TIMES = "operations have no time"
    CLOCKS = "operations start before the call that submitted them"
    FILTERED = "the recorder leaves out some of the calls that wait or allocate"
    RESULTS = "the recorder does not tell which calls failed"
    GPUS = "which GPU a process's device is cannot be told, and what ran beside it matters"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric's entry in the catalogue: the annotation of its field.

    The field's type, name and docstring are the rest of the entry: name and definition. Nothing
    else lists metrics: tables, limits, columns of the run database, schemas and docs follow.

    Attributes:
        title: its name in reports.
        unit: unit of its values.
        better: which way is better; None where neither is.
        shown: "headline" in every report where it is not 0, "always" there even so, "usual" in the
            report of one trace where it is not 0, "detail" only where all metrics are asked for.
        least_share: share of the step's window from which on a "usual" time is shown at all.
        stands_for: the metric in whose place it is shown where that is unknown.
        column: its heading where each step, or each trace, is a row.
        speed: a time from the start to the end of a step or request: less of it is faster.
        whole_graph: comes from a trace of graphs as whole spans, where a side has one beside
            another.
        judged: whether a change of it is better or worse; not of what is only a part of idle, nor
            of kernels, which are judged by the time they take.
        role: what it is in first sentences and short tables; of several of one role an untraced one
            stands first, then the first in the catalogue.
        noun: what first sentences call it; of a step's time "" where the phase tells.
        under_spans: what whole-graph tracing makes of it, as a span counts as busy throughout.
        of_window: a part of the step's window, which spans make busy throughout.
        of_gpu: rests on what other processes ran on the same GPU; all that is of_window does.
        lacking_calls: what it becomes where calls are missing or have no name; of counts of calls
            a lower bound without saying.
        lacking_launches: the same where only launches are.
        lacking_operations: where operations of the step are missing or have no time.
        filtered: counts calls of which some recorders leave out a part.
        of_results: rests on what calls returned.
        of_clocks: sets times of the GPU against times of calls.
        caution: a remark that must stand beside it.
        caution_in: the graph tracing in which the caution holds; None: always.
        untraced: rests on times without a profiler, which differ between processes.
        spent_if: the fact of a variant that says whether it spends any of it; none is 0.
        adds_up: whether the values of steps add up to one of all steps together.
        calls: kinds of CUDA call (`launchlens.calls`) that it counts.
        table: the table of a group that lists its parts, whose counts are bounds where it is one.
        submitted_by: the metric of the calls that leave one of these operations each.
        of_phase: the field of `VariantFacts` that holds it for each phase.
        after: the metric behind which it stands in reports, where its field does not say so.
        cause: words behind "the GPU waits for", of a gap cause.
        speaks_for: what a step is bound by whose idle time has mostly this cause.
        without_graphs: why it says nothing of a step that launches CUDA graphs, and is unknown.
        legend: words that explain a gap cause beside its colour.
        tile: its place among the key figures that a page shows large; None: not one of them.
        name: filled in from the field by `launchlens.catalogue`, as are the following.
        owner: what has the figure: a step, a side of a comparison, or a load of requests.
    """

    title: str
    unit: Unit
    better: Literal["less", "more"] | None = None
    shown: Literal["always", "headline", "usual", "detail"] = "detail"
    least_share: float = 0.0
    stands_for: str | None = None
    column: str = ""
    speed: bool = False
    whole_graph: bool = False
    judged: bool = True
    role: Role | None = None
    noun: str = ""
    under_spans: Bound | None = None
    of_window: bool = False
    of_gpu: bool = False
    lacking_calls: Effect | None = None
    lacking_launches: Effect | None = None
    lacking_operations: Effect | None = None
    filtered: bool = False
    of_results: bool = False
    of_clocks: bool = False
    caution: str = ""
    caution_in: str | None = None
    untraced: bool = False
    spent_if: str | None = None
    adds_up: bool = True
    calls: tuple[str, ...] = ()
    table: str | None = None
    submitted_by: str | None = None
    of_phase: str | None = None
    after: str | None = None
    cause: str | None = None
    speaks_for: str | None = None
    without_graphs: str = ""
    legend: str = ""
    tile: int | None = None
    name: str = ""
    owner: Owner = "step"

    @property
    def direction(self) -> int:
        """-1: less is better, 1: more is better, 0: neither."""
        return {"less": -1, "more": 1}.get(self.better or "", 0)

    @property
    def headline(self) -> bool:
        """Whether every report shows it."""
        return self.shown in ("always", "headline")

    def bound_under(self, graph_tracing: str | None) -> Bound | None:
        """What the figure is where graphs were traced so: a bound from below, above, or itself."""
        return self.under_spans if graph_tracing in ("graph", "mixed") else None

    def effect_of(self, flaw: Flaw) -> Effect | None:
        """What a flaw of the rows makes of the figure; None: it stays what it is."""
        counts = self.unit == "count"
        launches = bool({"kernel", "graph"} & set(self.calls))
        unknown: Effect = "unknown"
        effects: dict[Flaw, Effect | None] = {
            Flaw.SPANS: self.under_spans,
            Flaw.NAMES: self.lacking_calls or ("lower" if self.calls else self.lacking_launches),
            Flaw.LISTS: self.lacking_launches or ("lower" if launches else None),
            Flaw.LOSSES: "lower" if counts else self.lacking_operations,
            Flaw.ROWS: self.lacking_operations,
            # An operation counts, whether its time is known or not.
            Flaw.TIMES: None if counts else self.lacking_operations,
            Flaw.CLOCKS: unknown if self.of_clocks else None,
            Flaw.FILTERED: "lower" if self.filtered else None,
            Flaw.RESULTS: unknown if self.of_results else None,
            Flaw.GPUS: unknown if self.of_gpu or self.of_window else None,
        }
        return effects[flaw]
