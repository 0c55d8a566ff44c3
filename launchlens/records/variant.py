"""What is measured without a profiler, and what is known of how a variant was run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from launchlens.records.benchmark import BenchmarkResult
from launchlens.records.figures import Phase, Stat
from launchlens.records.metric import Metric


@dataclass(frozen=True, slots=True)
class Untraced:
    """A variant's steps timed with no profiler attached, synchronized."""

    phase: Phase
    """Phase of the steps timed."""
    wall_ns: Stat
    """Wall time of a step with no profiler attached; of several processes: median and interval of
    their medians, while `n` and the quantiles are those of all steps.
    """
    samples_ns: tuple[int, ...] = ()
    """Every sample."""
    processes_ns: tuple[int, ...] = ()
    """Median of each process, where it was timed in several."""


@dataclass(frozen=True, slots=True)
class RequestFigures:
    """Request-level figures of a variant at one concurrency; medians, untraced."""

    isl: int
    """Input tokens."""
    osl: int
    """Output tokens."""
    concurrency: int
    """Requests batched together."""
    ttft_ns: Annotated[int, Metric("TTFT", "ns", "less", "headline", speed=True, adds_up=False)]
    """Time to first token."""
    itl_ns: Annotated[
        int | None, Metric("ITL", "ns", "less", "headline", speed=True, adds_up=False)
    ]
    """Inter-token latency, mean over a request's decode steps."""
    latency_ns: Annotated[
        int, Metric("request latency", "ns", "less", "headline", speed=True, adds_up=False)
    ]
    """Time of a whole request."""
    requests_per_s: Annotated[float, Metric("requests", "per_s", "more", "headline", adds_up=False)]
    """Requests each second."""
    tokens_per_s: Annotated[float, Metric("tokens", "per_s", "more", "headline", adds_up=False)]
    """Output tokens each second."""
    repetitions: int
    """Measurements the medians are over."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """A variant's outputs beside another's, by dtype; differences in the model's own units."""

    dtype: str
    """Dtype of weights and activations."""
    max_abs_diff: float | None
    """Largest absolute difference of the outputs from eager's."""
    identical: bool
    """Whether they are bit for bit the same."""
    finite: bool
    """Whether all outputs are finite."""
    top1_agreement: float | None = None
    """Part of positions with the same most likely token."""
    beside: str | None = None
    """Variant of the same run that the outputs were measured against."""
    tolerance: float | None = None
    """Difference that the dtype's rounding explains; null where it is not known."""

    @property
    def is_wrong(self) -> bool:
        """Whether they are known to differ by more than rounding."""
        if self.identical:
            return False
        if not self.finite:
            return True
        distance, allowed = self.max_abs_diff, self.tolerance
        return distance is not None and allowed is not None and distance > allowed


FAILED = {
    "capture": "could not be captured",
    "run": "could not be run",
    "trace": "could not be traced",
}
"""What became of a failed variant, by what was being done."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a variant failed: the error's first line, where, and what to do."""

    error_type: str
    """Class of the error."""
    error_line: str
    """Its first line."""
    source: str | None
    """File and line of the model that raised it."""
    hint: str | None
    """What usually helps."""
    log: str | None = None
    """File with the whole output."""
    during: Literal["capture", "run", "trace"] = "capture"
    """`capture`: the step could not be captured; `run`: the program could not be run; `trace`: it
    ran, but not under nsys.
    """

    @property
    def words(self) -> str:
        """What became of the variant, to stand behind its name."""
        return FAILED[self.during]


@dataclass(frozen=True, slots=True)
class SideFigures:
    """Figures of a side of a comparison that no trace alone has: entries of the catalogue.

    `launchlens.comparison` computes them from what was measured without a profiler.
    """

    untraced_ns: Annotated[
        int | None,
        Metric(
            "step, untraced",
            "ns",
            "less",
            "headline",
            of_phase="untraced",
            speed=True,
            after="graph_spans",
            untraced=True,
            role="step",
            tile=2,
        ),
    ]
    """Wall time of a step with no profiler attached."""
    window_graph_ns: Annotated[
        int | None,
        Metric(
            "step, traced as whole graphs",
            "ns",
            "less",
            after="window_ns",
            speed=True,
            whole_graph=True,
        ),
    ]
    """Window of the same steps in a trace of whole graphs, of a variant that was traced both ways;
    of one that launches no graphs the window of its only trace.
    """
    inflation: Annotated[
        float | None,
        Metric(
            "inflation by tracing", "fraction", None, "headline", after="window_ns", adds_up=False
        ),
    ]
    """Traced window over untraced wall, less one."""
    idle_corrected: Annotated[
        float | None,
        Metric(
            "GPU idle, corrected",
            "fraction",
            "less",
            "headline",
            after="idle",
            under_spans="lower",
            adds_up=False,
            untraced=True,
            of_window=True,
            role="idle",
            noun="GPU idle",
            tile=4,
        ),
    ]
    """1 − busy_ns / untraced wall: device time barely suffers from tracing, wall time does."""


@dataclass(frozen=True, slots=True)
class VariantFacts:
    """What is known of a side beyond its trace: how it was run and timed. All may be unknown."""

    model: str | None = None
    """Model."""
    variant: str | None = None
    """How its forward pass is run."""
    isl: int | None = None
    """Input tokens of each sequence."""
    osl: int | None = None
    """Output tokens of each sequence."""
    batch: int | None = None
    """Sequences in a step."""
    dtype: str | None = None
    """Dtype of weights and activations."""
    layers_note: str | None = None
    """Said when the model was shortened."""
    layers: int | None = None
    """Layers that it was built with."""
    model_layers: int | None = None
    """Layers that the whole model has."""
    notes: tuple[str, ...] = ()
    """What the program that ran it said a reader must know, in sentences."""
    commit: str | None = None
    """Git commit of the working folder."""
    dirty: bool | None = None
    """Whether files were changed in it."""
    command: str | None = None
    """Command that ran it."""
    versions: dict[str, str] = field(default_factory=dict)
    """Versions of the software it ran with."""
    untraced: tuple[Untraced, ...] = ()
    """Times with no profiler attached, for each phase."""
    requests: tuple[RequestFigures, ...] = ()
    """Request-level figures, for each concurrency."""
    benchmarks: tuple[BenchmarkResult, ...] = ()
    """What benchmarks of its server measured, where their files were given."""
    equivalence: tuple[Equivalence, ...] = ()
    """Outputs beside eager's, for each dtype."""
    failure: Failure | None = None
    """Why it could not be captured."""
    peak_memory_bytes: Annotated[
        int | None,
        Metric("peak GPU memory", "bytes", "less", "headline", adds_up=False, role="memory"),
    ] = None
    """Most GPU memory in use."""
    graph_memory_bytes: Annotated[
        int | None,
        Metric("graph memory", "bytes", "less", "headline", adds_up=False, spent_if="captures"),
    ] = None
    """GPU memory that capturing added."""
    capture_ns: Annotated[
        int | None,
        Metric("capture time", "ns", None, "headline", adds_up=False, spent_if="prepares"),
    ] = None
    """Time that preparing the variant took: warm-up, capture, compilation."""
    captured_phases: tuple[str, ...] = ()
    """Phases that were captured."""
    captures: bool | None = None
    """Whether its steps launch CUDA graphs, so that it spends memory on them."""
    weights: str | None = None
    """`random`, or `pretrained` of a checkpoint."""
    prepares: bool | None = None
    """Whether its steps are made ready before they are run, which takes time."""

    @property
    def shortened(self) -> str | None:
        """How the model was shortened, in few words; None where it is whole."""
        return shortened(self.layers_note, self.layers, self.model_layers)

    @property
    def commit_text(self) -> str | None:
        """The commit, with a word behind it where files were changed."""
        return f"{self.commit} (dirty)" if self.commit and self.dirty else self.commit


def shortened(note: str | None, layers: int | None, model_layers: int | None) -> str | None:
    """How a model was shortened, in few words; older versions kept the note alone."""
    if note is None or layers is None or model_layers is None:
        return note
    return f"{layers} of {model_layers} layers"
