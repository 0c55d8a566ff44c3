"""A variant, prepared for a model and its inputs: what all measurements run."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, get_args

from launchlens.errors import HarnessError
from launchlens.harness.device import reserved_bytes, synchronize
from launchlens.harness.failures import describe_failure, is_out_of_memory
from launchlens.harness.inputs import DECODE, PREFILL, StepInputs, make_inputs
from launchlens.harness.variants import as_it_is, find_variant, list_variants
from launchlens.harness.variants.base import Context, Prepared, Variant
from launchlens.protocol.facts import VariantFailure
from launchlens.protocol.spec import HarnessSpec
from launchlens.protocol.step import PreparedKind, StepPhase


class VariantFailedError(Exception):
    """The variant could not be prepared. A result, not an error of the harness."""

    def __init__(self, failure: VariantFailure) -> None:
        super().__init__(failure.error_line)
        self.failure = failure


def failure_in(error: VariantFailedError | HarnessError) -> VariantFailure:
    """What a result says of a variant that could not be prepared, or be tried."""
    if isinstance(error, VariantFailedError):
        return error.failure
    return VariantFailure("HarnessError", str(error))


@dataclass(slots=True)
class Session:
    """Prepared steps of a model and how they came about.

    Attributes:
        inputs: the static inputs all steps share.
        prepare_ns: wall time of warm-up, capture and compilation together.
        captured: what became of each phase.
        graph_memory_bytes: growth of reserved GPU memory; None on a CPU or for eager.
        notes: sentences for the report.
        decode_failure: why the decode step was left eager, if it was.
        pool: what the phases of a variant share.
    """

    spec: HarnessSpec
    model: Any
    device: str
    variant: Variant
    inputs: StepInputs
    prepared: dict[StepPhase, Prepared] = field(default_factory=dict)
    prepare_ns: dict[StepPhase, int] = field(default_factory=dict)
    captured: dict[StepPhase, PreparedKind] = field(default_factory=dict)
    graph_memory_bytes: int | None = None
    notes: list[str] = field(default_factory=list)
    decode_failure: VariantFailure | None = None
    pool: dict[str, Any] = field(default_factory=dict)

    def run_prefill(self) -> Any:
        """Runs one prefill step on a rewound cache; returns its logits, not synchronized."""
        logits = self.prepared[PREFILL].step()
        self.inputs.note_length(self.inputs.isl)
        return logits

    def run_decode(self, index: int) -> Any:
        """Runs the decode step with the given index (0 first); returns its logits."""
        logits = self.prepared[DECODE].step()
        self.inputs.note_length(self.inputs.isl + index + 1)
        return logits

    def feed(self, index: int) -> None:
        """Writes the forced token of a decode step into its input buffer."""
        assert self.inputs.decode is not None
        self.inputs.decode["input_ids"].copy_(self.inputs.forced_tokens[index].unsqueeze(1))

    @property
    def decode_steps(self) -> int:
        """Decode steps after a prefill: osl - 1."""
        return len(self.inputs.forced_tokens)


def open_session(
    spec: HarnessSpec, model: Any, device: str, *, batch: int | None = None
) -> Session:
    """Makes inputs, checks that the model runs, and prepares the spec's variant.

    ``batch`` overrides the spec's. The cache is rewound, the device idle.

    Raises:
        HarnessError: no such variant, a variant that needs a GPU without one, or a model
            whose plain forward call fails.
        VariantFailedError: the variant could not be prepared.
    """
    variant = find_variant(spec.variant)
    if variant.needs_gpu and device != "cuda":
        without = [known.name for known in list_variants() if not known.needs_gpu]
        raise HarnessError(
            f"The variant {variant.name} captures CUDA graphs and there is no NVIDIA GPU.",
            hint=f"{' and '.join(without)} run on a CPU.",
        )
    inputs = make_inputs(spec, model, device, batch=batch)
    session = Session(spec, model, device, variant, inputs, notes=list(inputs.notes))
    _check_forward(session)
    before = reserved_bytes(device)
    _prepare(session, variant, PREFILL)
    if inputs.decode is not None:
        _prepare_decode(session)
    after = reserved_bytes(device)
    if before is not None and after is not None and variant.prepares is not False:
        session.graph_memory_bytes = max(0, after - before)
    return session


def _check_forward(session: Session) -> None:
    """One plain call of each phase: lazy initialization, and errors that no variant causes.

    The static cache allocates itself here; inside a capture or a trace it could not.
    """
    inputs = session.inputs
    try:
        session.model(**inputs.prefill)
        if inputs.decode is not None:
            inputs.rewind(inputs.isl)
            session.model(**inputs.decode)
        synchronize(session.device)
    except Exception as error:
        if is_out_of_memory(error):
            raise out_of_memory_error(session.spec, error) from error
        failure = describe_failure(error)
        where = f" at {failure.source}" if failure.source else ""
        raise HarnessError(
            f"The forward call of {session.spec.model} fails without any capture{where}: "
            f"{failure.error_type}: {failure.error_line}"
        ) from error


def _prepare(session: Session, variant: Variant, phase: StepPhase) -> None:
    inputs = session.inputs
    arguments = inputs.prefill if phase == PREFILL else inputs.decode
    assert arguments is not None

    def reset() -> None:
        inputs.rewind(inputs.start_of(phase))

    reset()
    context = Context(phase=phase, device=session.device, reset=reset, pool=session.pool)
    start_ns = time.perf_counter_ns()
    try:
        prepared = variant.prepare(session.model, arguments, context)
        synchronize(session.device)
    except Exception as error:
        if is_out_of_memory(error):
            raise out_of_memory_error(session.spec, error) from error
        raise VariantFailedError(describe_failure(error, phase=phase)) from error
    session.prepare_ns[phase] = time.perf_counter_ns() - start_ns
    if prepared.kind not in (kinds := get_args(PreparedKind)):
        raise HarnessError(
            f"The variant {variant.name} returned a step of kind {prepared.kind!r}.",
            hint=f"Use one of {', '.join(kinds)}.",
        )
    session.prepared[phase] = prepared
    session.captured[phase] = prepared.kind
    if prepared.note is not None:
        session.notes.append(prepared.note)
    inputs.rewind(0)


def _prepare_decode(session: Session) -> None:
    """Prepares the decode step; where that cannot be, it stays eager and the report says so."""
    reason = None
    if session.variant.replays and not session.inputs.all_static:
        reason = "the sliding-window cache counts its tokens in Python, which a replay does not run"
    else:
        try:
            _prepare(session, session.variant, DECODE)
        except VariantFailedError as error:
            session.decode_failure = error.failure
            reason = error.failure.error_line
    if reason is not None:
        _prepare(session, as_it_is(), DECODE)
        session.notes.append(f"The decode step was left eager: {reason}.")


def out_of_memory_error(spec: HarnessSpec, error: BaseException) -> HarnessError:
    """The one sentence for a step that does not fit: which variant, how much."""
    import torch

    free = ""
    if torch.cuda.is_available():
        free_bytes, total_bytes = torch.cuda.mem_get_info()
        free = (
            f" ({free_bytes / 2**30:.1f} of {total_bytes / 2**30:.1f} GiB free, "
            f"{torch.cuda.max_memory_reserved() / 2**30:.1f} GiB held at most)"
        )
    first = str(error).strip().splitlines()[0]
    return HarnessError(
        f"{spec.variant} of {spec.model} ran out of GPU memory{free}: {first}",
        hint="Use fewer layers, a smaller batch or isl, or another dtype.",
    )
