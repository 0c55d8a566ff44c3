"""Request level: requests that arrive together, prefilled and decoded as one batch."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from launchlens.errors import HarnessError
from launchlens.harness.device import synchronize
from launchlens.harness.session import Session, VariantFailedError, open_session
from launchlens.protocol.spec import MIN_REQUEST_REPETITIONS

if TYPE_CHECKING:
    from launchlens.protocol.spec import HarnessSpec


def time_requests(
    spec: HarnessSpec, model: Any, device: str, session: Session
) -> list[dict[str, Any]]:
    """Times requests at each concurrency of the spec.

    Args:
        spec: isl, osl, the concurrencies, warmup and steps.
        model: the built model.
        device: cuda or cpu.
        session: the spec's own session, reused where its batch is the concurrency.

    Returns:
        For each concurrency: ``concurrency``, ``isl``, ``osl``, ``repetitions``, ``samples``
        (``ttft_ns``, ``itl_ns``, ``latency_ns``), the medians of the same names,
        ``requests_per_s`` and ``tokens_per_s`` (output tokens, from the median latency), or
        ``failure`` where the variant could not be prepared for that batch.
    """
    results = []
    for concurrency in spec.concurrency:
        row: dict[str, Any] = {"concurrency": concurrency, "isl": spec.isl, "osl": spec.osl}
        try:
            own = (
                session
                if concurrency == spec.batch
                else open_session(spec, model, device, batch=concurrency)
            )
        except VariantFailedError as error:
            results.append(row | {"failure": error.failure.to_dict()})
        except HarnessError as error:
            results.append(
                row | {"failure": {"error_type": "HarnessError", "error_line": str(error)}}
            )
        else:
            results.append(row | _time_batch(own, spec, concurrency))
    return results


def _time_batch(session: Session, spec: HarnessSpec, concurrency: int) -> dict[str, Any]:
    for _ in range(spec.warmup):
        _run_request(session)
    repetitions = max(spec.steps, MIN_REQUEST_REPETITIONS)
    rows = [_run_request(session) for _ in range(repetitions)]
    ttft_ns = [row[0] for row in rows]
    latency_ns = [row[1][-1] for row in rows]
    # Mean over a request's decode steps, one value for each request.
    itl_ns = [round((row[1][-1] - row[0]) / session.decode_steps) for row in rows if row[1][1:]]
    latency = round(statistics.median(latency_ns))
    return {
        "repetitions": repetitions,
        "captured": session.captured,
        "samples": {"ttft_ns": ttft_ns, "itl_ns": itl_ns, "latency_ns": latency_ns},
        "ttft_ns": round(statistics.median(ttft_ns)),
        "itl_ns": round(statistics.median(itl_ns)) if itl_ns else None,
        "latency_ns": latency,
        "requests_per_s": concurrency * 1e9 / latency,
        "tokens_per_s": concurrency * (session.decode_steps + 1) * 1e9 / latency,
    }


def _run_request(session: Session) -> tuple[int, list[int]]:
    """One batch of requests: time to first token, and the time after each token, in ns.

    Each token is waited for, as a server that streams tokens does.
    """
    session.inputs.rewind(0)
    synchronize(session.device)
    decode = session.inputs.decode
    times: list[int] = []
    start_ns = time.perf_counter_ns()
    logits = session.run_prefill()
    for index in range(session.decode_steps + 1):
        token = logits[:, -1].argmax(-1, keepdim=True)
        if decode is not None:
            decode["input_ids"].copy_(token)
        synchronize(session.device)
        times.append(time.perf_counter_ns() - start_ns)
        if index < session.decode_steps:
            logits = session.run_decode(index)
    return times[0], times
