"""What ``launchlens profile`` is going to run: variants, and a child process for each purpose."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from launchlens.errors import UsageError
from launchlens.harness.presets import find_preset, unknown_model_error
from launchlens.harness.spec import MIN_TIMED_STEPS, HarnessSpec

CAPTURING = (
    "cudagraph",
    "breakable",
    "piecewise",
    "compile-cudagraph",
    "compile-cudagraphs-backend",
)
"""Built-in variants that launch CUDA graphs: worth a whole-graph trace as well."""

BUILT_IN = ("eager", *CAPTURING[:3], "compile", *CAPTURING[3:])
DEFAULT_VARIANTS = ("eager", "cudagraph")


@dataclass(frozen=True, slots=True)
class Plan:
    """One run: the spec all children share, and what is done for each variant.

    Attributes:
        spec: shared by all children; variant, mode and paths are filled in for each.
        variants: in the order they run; the first is the baseline.
        trace_steps: steps in each trace.
        graph_trace: "node", "graph" or "both".
        device: "cuda" or "cpu".
        nsys_args: passed on to nsys profile.
        stacks: record call stacks of synchronizing calls.
        timeout_s: limit for each child.
        suffix: added to variants' names in the run ("-patched"), so that files stay apart.
    """

    spec: HarnessSpec
    variants: tuple[str, ...]
    trace_steps: int
    graph_trace: str
    device: str
    nsys_args: tuple[str, ...] = ()
    stacks: bool = False
    timeout_s: float = 900.0
    suffix: str = ""

    def time_spec(self, variant: str, results: Path) -> HarnessSpec:
        """Spec of the child that times a variant with no profiler around it."""
        stem = self.stem(variant)
        return replace(
            self.spec,
            variant=variant,
            mode="time",
            device=self.device,
            result_path=str(results / f"{stem}.time.json"),
            outputs_path=str(results / f"{stem}.outputs.npz"),
        )

    def trace_spec(self, variant: str, kind: str, results: Path) -> HarnessSpec:
        """Spec of the child that runs under nsys."""
        return replace(
            self.spec,
            variant=variant,
            mode="trace",
            device=self.device,
            steps=self.trace_steps,
            concurrency=(),
            equivalence_dtypes=(),
            graph_trace=kind,
            result_path=str(results / f"{self.stem(variant)}.{kind}.trace.json"),
        )

    def stem(self, variant: str) -> str:
        """A variant's name in this plan as part of file names."""
        return stem_of(variant + self.suffix)

    def trace_kinds(self, variant: str) -> tuple[str, ...]:
        """Traces to record of a variant: by kind of graph tracing."""
        if self.device == "cpu":
            return ("none",)
        if variant in CAPTURING or variant not in BUILT_IN:
            return ("node", "graph") if self.graph_trace == "both" else (self.graph_trace,)
        return ("node",)

    @property
    def children(self) -> int:
        """Child processes the whole run starts, if no variant fails."""
        return sum(1 + len(self.trace_kinds(v)) for v in self.variants)


def make_plan(
    spec: HarnessSpec,
    *,
    variants: Sequence[str],
    trace_steps: int,
    graph_trace: str,
    device: str,
    nsys_args: Sequence[str],
    stacks: bool,
    timeout_s: float,
) -> Plan:
    """Check what the user asked for before anything heavy starts.

    Raises:
        UsageError: an unknown variant, or one given twice; no steps.
        HarnessError: an unknown model (the nearest names are offered).
    """
    check_model(spec.model)
    chosen = tuple(dict.fromkeys(variants or DEFAULT_VARIANTS))
    for variant in chosen:
        if variant not in BUILT_IN and ":" not in variant:
            raise UsageError(
                f"variant {variant!r} is unknown.",
                hint=f"Use {', '.join(BUILT_IN)}, or your own as module:function.",
            )
    if trace_steps < 1:
        raise UsageError("--trace-steps must be at least 1.")
    if spec.steps < MIN_TIMED_STEPS:
        raise UsageError(
            f"--steps {spec.steps}: a median of untraced times needs at least {MIN_TIMED_STEPS}."
        )
    return Plan(spec, chosen, trace_steps, graph_trace, device, tuple(nsys_args), stacks, timeout_s)


def check_model(name: str) -> None:
    """Refuse a model that can only be a typing error, without importing torch.

    Raises:
        HarnessError: neither a preset, nor a folder, nor of a hub id's form (owner/name).
    """
    if find_preset(name) is None and not Path(name).is_dir() and name.count("/") != 1:
        raise unknown_model_error(name)


def stem_of(variant: str) -> str:
    """A variant's name as part of a file name."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in variant)


def child_command(spec_file: Path) -> list[str]:
    """The command that runs one spec."""
    return [sys.executable, "-m", "launchlens.harness", str(spec_file)]
