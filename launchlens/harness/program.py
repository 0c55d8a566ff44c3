"""Runs one spec and makes its result; nothing here prints."""

from __future__ import annotations

import gc
import importlib
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from launchlens.errors import HarnessError
from launchlens.harness.attempt import make_step, run_attempts
from launchlens.harness.calibration import run_calibration
from launchlens.harness.device import peak_bytes, pick_device, read_environment
from launchlens.harness.dispatch import Recorder, observe
from launchlens.harness.equivalence import save_outputs
from launchlens.harness.failures import describe_failure, is_out_of_memory
from launchlens.harness.inputs import DECODE, PREFILL, make_inputs
from launchlens.harness.models import build_model
from launchlens.harness.replayed import check_attempt, check_prepared
from launchlens.harness.requests import time_requests
from launchlens.harness.session import (
    VariantFailedError,
    failure_in,
    open_session,
    out_of_memory_error,
)
from launchlens.harness.steps import collect_outputs, time_steps, trace_steps
from launchlens.harness.turn import take_turn
from launchlens.harness.variants import find_variant
from launchlens.harness.variants.base import Context, forward_call
from launchlens.protocol.facts import ChildError, VariantFailure
from launchlens.protocol.result import (
    AttemptResult,
    CalibrateResult,
    DispatchResult,
    Result,
    TimeResult,
    TraceResult,
    make_result,
)
from launchlens.protocol.spec import HarnessSpec
from launchlens.protocol.step import StepPhase
from launchlens.protocol.timings import CompileCounts, SavedOutputs


def run_spec(spec: HarnessSpec) -> Result:
    """Runs a spec; there is a result also when the variant fails or nothing could be run."""
    result = make_result(spec)
    try:
        _fill(spec, result)
    except VariantFailedError as error:
        result.status, result.failure = "failed", error.failure
    except Exception as error:  # the parent must learn of a bug, with its trace
        result.status, result.error = "error", _describe_error(spec, error)
    return result


def _fill(spec: HarnessSpec, result: Result) -> None:
    find_variant(spec.variant)  # Refuses an unknown one before the model is built.
    _require_packages()
    import torch

    torch.set_grad_enabled(mode=False)
    device = pick_device(spec.device)
    result.environment = read_environment(device)
    if isinstance(result, DispatchResult):
        _run_dispatch(spec, result, device)
        return
    if isinstance(result, CalibrateResult):
        with take_turn("measure", device, result.notes):
            run_calibration(spec, result, device)
        return
    with take_turn("build", device, result.notes):
        built = build_model(spec, device, spec.dtype)
    result.model = built.facts
    result.notes.extend(built.notes)
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    if isinstance(result, AttemptResult):
        with take_turn("build", device, result.notes):
            _run_attempt(spec, result, built.module, device)
        return
    with take_turn("measure", device, result.notes):
        outputs = _run_measured(spec, result, built.module, device)
    # The first model and its graphs go before others are built.
    del built
    if isinstance(result, TimeResult) and spec.outputs_path is not None and outputs:
        with take_turn("build", device, result.notes):
            result.outputs = _save_outputs(spec, spec.outputs_path, outputs, device)


def _run_measured(
    spec: HarnessSpec, result: TimeResult | TraceResult, model: Any, device: str
) -> dict[str, np.ndarray[Any, Any]]:
    """Modes time and trace; returns the outputs to save, if any are wanted."""
    session = open_session(spec, model, device)
    if isinstance(result, TimeResult):
        result.steps = time_steps(session)
    else:
        result.steps = trace_steps(session)
    result.captured = session.captured
    result.prepare_ns = session.prepare_ns
    result.pieces = {phase: p.pieces for phase, p in session.prepared.items() if p.pieces}
    result.graph_memory_bytes = session.graph_memory_bytes
    result.peak_memory_bytes = peak_bytes(device)
    result.compile = _compile_counts() if session.variant.compiles else None
    result.decode_failure = session.decode_failure
    result.notes.extend(session.notes)
    if not isinstance(result, TimeResult):
        return {}
    outputs = collect_outputs(session, spec.dtype) if spec.outputs_path is not None else {}
    result.requests = time_requests(session)
    if session.variant.captures:
        result.replays = check_prepared(session)  # last: it writes other values into the inputs
    return outputs


def _save_outputs(
    spec: HarnessSpec, path: str, arrays: dict[str, np.ndarray[Any, Any]], device: str
) -> SavedOutputs:
    """Saves the outputs and, with the model rebuilt, those in the further dtypes."""
    import numpy as np

    failures: dict[str, VariantFailure] = {}
    for dtype in spec.equivalence_dtypes:
        if dtype == spec.dtype:
            continue
        _release(device)
        try:
            arrays |= _outputs_in(spec, device, dtype)
        except (VariantFailedError, HarnessError) as error:
            failures[dtype] = failure_in(error)
    save_outputs(Path(path), arrays)
    finite: dict[str, bool] = {}
    for name, array in arrays.items():
        kind = name.partition(".")[0]
        finite[kind] = finite.get(kind, True) and bool(np.isfinite(array).all())
    return SavedOutputs(path, finite, failures)


def _outputs_in(spec: HarnessSpec, device: str, dtype: str) -> dict[str, np.ndarray[Any, Any]]:
    built = build_model(spec, device, dtype)
    return collect_outputs(open_session(spec, built.module, device), dtype)


def _run_attempt(spec: HarnessSpec, result: AttemptResult, model: Any, device: str) -> None:
    """Mode attempt: the prefill step alone."""
    if device != "cuda":
        raise HarnessError(
            "A capture attempt needs an NVIDIA GPU.",
            hint="Mode dispatch names the suspects without one.",
        )
    inputs = make_inputs(spec, model, device)
    forward = forward_call(model, inputs.prefill)
    context = Context(phase=PREFILL, device=device, reset=lambda: inputs.rewind(0))
    step = make_step(model, forward, context)
    attempt, result.failure, replay = run_attempts(
        step, patched_sources=spec.patched_sources, keep_going=spec.keep_going
    )
    if replay is not None:
        check = check_attempt(step, inputs, spec.dtype, attempt.patched_sources, replay)
        attempt = replace(attempt, replay=check)
    result.attempt = attempt
    if result.failure is not None:
        result.status = "failed"


def _run_dispatch(spec: HarnessSpec, result: DispatchResult, device: str) -> None:
    """Mode dispatch: the eager steps, operator by operator; on meta tensors without a GPU."""
    accelerator = device
    if device == "cpu":
        accelerator = "meta"
        result.notes.append(
            "Without a GPU the step was followed on tensors without values: control flow that "
            "reads a tensor is taken as if the value were 1."
        )
    built = build_model(spec, accelerator, spec.dtype)
    model = built.module
    result.model = built.facts
    result.notes.extend(built.notes)
    result.accelerator = accelerator
    inputs = make_inputs(spec, model, accelerator)
    steps: tuple[tuple[StepPhase, Any], ...] = (PREFILL, inputs.prefill), (DECODE, inputs.decode)
    for phase, arguments in steps:
        if arguments is None:
            continue
        recorder = Recorder(phase=phase)
        # The first call allocates caches and the like: its events are none of the step's.
        for handler in (Recorder(), recorder):
            inputs.rewind(inputs.start_of(phase))
            try:
                with observe(model, handler, accelerator=accelerator):
                    model(**arguments)
            except Exception as error:
                if is_out_of_memory(error):
                    raise
                failure = describe_failure(error, phase=phase)
                raise HarnessError(
                    f"The {phase} step fails at {failure.source}: {failure.error_line}"
                ) from error
        result.events.extend(recorder.events)


def _require_packages() -> None:
    for name in ("torch", "transformers"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise HarnessError(
                f"{name} cannot be imported: {error}.",
                hint="Install launchlens with its extra: pip install '.[profile]' in its folder.",
            ) from error


def _release(device: str) -> None:
    """Frees a model and its graphs before the next one is built."""
    import torch

    torch.compiler.reset()
    gc.collect()
    if device == "cuda":
        torch.cuda.empty_cache()


def _compile_counts() -> CompileCounts | None:
    """Graphs that torch.compile made, and breaks between them; None when it did not run."""
    from torch._dynamo.utils import counters

    graphs = counters["stats"].get("unique_graphs", 0)
    if not graphs:
        return None
    return CompileCounts(int(graphs), sum(counters["graph_break"].values()))


def _describe_error(spec: HarnessSpec, error: Exception) -> ChildError:
    kind, known = type(error).__name__, error
    if not isinstance(error, HarnessError) and is_out_of_memory(error):
        known = out_of_memory_error(spec, error)
    if isinstance(known, HarnessError):
        return ChildError(kind, known.message, known.hint)
    trace = "".join(traceback.format_exception(error))[-20_000:]
    return ChildError(kind, f"{kind}: {error}", None, trace)
