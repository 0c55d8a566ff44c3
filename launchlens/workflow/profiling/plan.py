"""What ``launchlens profile`` is going to run: variants, and a child process for each purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from launchlens import capture
from launchlens.errors import HarnessError, UsageError
from launchlens.harness.presets import find_preset, unknown_model_error
from launchlens.harness.variants import built_in, default_names, unknown_variant_hint
from launchlens.protocol.spec import MIN_TIMED_STEPS, Device, HarnessSpec
from launchlens.suggestions import did_you_mean, near_files

# Of spec and plan, what is no part of what was asked for.
_OF_A_CHILD = {"result_path", "variant", "mode", "outputs_path", "keep_going", "patched_sources"}
_OF_THE_PLAN = {"spec", "command", "suffix"}


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
        rounds: processes in which each variant is timed, in turn with the others.
        command: how a reader can repeat the run; the children's commands are in its folder.
        suffix: added to variants' names in the run ("-patched"), so that files stay apart.
    """

    spec: HarnessSpec
    variants: tuple[str, ...]
    trace_steps: int
    graph_trace: str
    device: Device
    nsys_args: tuple[str, ...] = ()
    stacks: bool = False
    timeout_s: float = 900.0
    rounds: int = 1
    command: str | None = None
    suffix: str = ""

    def time_spec(self, variant: str, results: Path, turn: int = 1) -> HarnessSpec:
        """Spec of the child that times a variant with no profiler around it.

        Only the first turn's child saves outputs and times requests.
        """
        spec = replace(self.spec, variant=variant, mode="time", device=self.device)
        path = results / self.stem(variant)
        if turn == 1:
            outputs = f"{path}.outputs.npz"
            return replace(spec, result_path=f"{path}.time.json", outputs_path=outputs)
        path_again = f"{path}.time-{turn}.json"
        return replace(spec, result_path=path_again, equivalence_dtypes=(), concurrency=())

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
        known = built_in(variant)
        if known is not None and known.captures is False:
            return ("node",)
        return ("node", "graph") if self.graph_trace == "both" else (self.graph_trace,)

    def arguments(self) -> dict[str, Any]:
        """What was asked for, by name, for the run's record."""
        shared = {k: v for k, v in asdict(self.spec).items() if k not in _OF_A_CHILD}
        own = {k: v for k, v in asdict(self).items() if k not in _OF_THE_PLAN}
        return shared | own | {k: list(v) for k, v in own.items() if isinstance(v, tuple)}

    @property
    def children(self) -> int:
        """Child processes the whole run starts, if no variant fails."""
        return sum(self.rounds + len(self.trace_kinds(v)) for v in self.variants)


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
    rounds: int = 1,
    command: str | None = None,
) -> Plan:
    """Check what the user asked for before anything heavy starts, and see to its `Plan`.

    No variants takes the default for the device; of ``device`` see `choose_device`.

    Raises:
        UsageError: an unknown variant; too few steps.
        HarnessError: an unknown model (the nearest names are offered), a patch that is not
            there, or no GPU.
    """
    check_model(spec.model)
    check_patch(spec.patch)
    for variant in variants:
        if built_in(variant) is None and ":" not in variant:
            raise UsageError(f"variant {variant!r} is unknown.", hint=unknown_variant_hint())
    if trace_steps < 1:
        raise UsageError("--trace-steps must be at least 1.")
    if spec.steps < MIN_TIMED_STEPS:
        raise UsageError(
            f"--steps {spec.steps}: a median of untraced times needs at least {MIN_TIMED_STEPS}."
        )
    where = choose_device(device)
    chosen = tuple(dict.fromkeys(variants or default_names(gpu=where == "cuda")))
    asked = trace_steps, graph_trace, where, tuple(nsys_args), stacks, timeout_s, rounds, command
    return Plan(spec, chosen, *asked)


def choose_device(wanted: str) -> Device:
    """Choose "cuda" or "cpu"; the CPU only when asked for, since it gives no device figures.

    Raises:
        HarnessError: no NVIDIA GPU answers.
    """
    if wanted == "cpu":
        return "cpu"
    if not capture.gpu_facts():
        raise HarnessError(
            "no NVIDIA GPU answers here (NVML).",
            hint="Run it on a machine with one, or try the pipeline without device figures: "
            "--device cpu.",
        )
    return "cuda"


def check_model(name: str) -> None:
    """Refuse a model that can only be a typing error, without importing torch.

    Raises:
        HarnessError: neither a preset, nor a folder, nor of a hub id's form (owner/name).
    """
    if find_preset(name) is not None or Path(name).is_dir():
        return
    if name.count("/") != 1 or name.startswith((".", "/", "~")):
        raise unknown_model_error(name)


def check_patch(patch: str | Path | None) -> None:
    """Refuse a patch that is not there, before a model is built for it.

    Raises:
        HarnessError: there is no such file.
    """
    if patch is not None and not Path(patch).is_file():
        near = did_you_mean(near_files(Path(patch))) or "Check the path."
        raise HarnessError(f"The patch {patch} does not exist.", hint=near)


def stem_of(variant: str) -> str:
    """A variant's name as part of a file name."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in variant)
