"""Request level: requests that arrive together, prefilled and decoded as one batch."""

from __future__ import annotations

import statistics
import time
from typing import Any

from launchlens.errors import HarnessError
from launchlens.harness.device import synchronize
from launchlens.harness.session import Session, VariantFailedError, open_session
from launchlens.protocol.facts import VariantFailure
from launchlens.protocol.measured import RequestSamples, TimedRequests, UntimedRequests
from launchlens.protocol.spec import MIN_REQUEST_REPETITIONS, HarnessSpec


def time_requests(
    spec: HarnessSpec, model: Any, device: str, session: Session
) -> list[TimedRequests | UntimedRequests]:
    """Times requests at each concurrency of the spec.

    Args:
        spec: isl, osl, the concurrencies, warmup and steps.
        model: the built model.
        device: cuda or cpu.
        session: the spec's own session, reused where its batch is the concurrency.

    Returns:
        What was measured at each concurrency, or why the variant could not be prepared for that
        batch.
    """
    assert spec.osl is not None
    results: list[TimedRequests | UntimedRequests] = []
    for concurrency in spec.concurrency:
        try:
            own = (
                session
                if concurrency == spec.batch
                else open_session(spec, model, device, batch=concurrency)
            )
        except VariantFailedError as error:
            results.append(UntimedRequests(concurrency, spec.isl, spec.osl, error.failure))
        except HarnessError as error:
            failure = VariantFailure("HarnessError", str(error))
            results.append(UntimedRequests(concurrency, spec.isl, spec.osl, failure))
        else:
            results.append(_time_batch(own, spec, spec.osl, concurrency))
    return results


def _time_batch(session: Session, spec: HarnessSpec, osl: int, concurrency: int) -> TimedRequests:
    for _ in range(spec.warmup):
        _run_request(session)
    repetitions = max(spec.steps, MIN_REQUEST_REPETITIONS)
    rows = [_run_request(session) for _ in range(repetitions)]
    ttft_ns = [row[0] for row in rows]
    latency_ns = [row[1][-1] for row in rows]
    # Mean over a request's decode steps, one value for each request.
    itl_ns = [round((row[1][-1] - row[0]) / session.decode_steps) for row in rows if row[1][1:]]
    latency = round(statistics.median(latency_ns))
    return TimedRequests(
        concurrency=concurrency,
        isl=spec.isl,
        osl=osl,
        repetitions=repetitions,
        captured=session.captured,
        samples=RequestSamples(tuple(ttft_ns), tuple(itl_ns), tuple(latency_ns)),
        ttft_ns=round(statistics.median(ttft_ns)),
        itl_ns=round(statistics.median(itl_ns)) if itl_ns else None,
        latency_ns=latency,
        requests_per_s=concurrency * 1e9 / latency,
        tokens_per_s=concurrency * (session.decode_steps + 1) * 1e9 / latency,
    )


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
