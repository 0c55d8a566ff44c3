"""Request level: requests that arrive together, prefilled and decoded as one batch."""

from __future__ import annotations

import statistics
import time

from launchlens.errors import HarnessError
from launchlens.harness.device import synchronize
from launchlens.harness.session import Session, VariantFailedError, failure_in, open_session
from launchlens.protocol.spec import MIN_REQUEST_REPETITIONS
from launchlens.protocol.timings import RequestSamples, TimedRequests, UntimedRequests


def time_requests(session: Session) -> list[TimedRequests | UntimedRequests]:
    """Times requests at each concurrency of the session's spec, or says why it cannot be done.

    The session itself is used where its batch is the concurrency, one like it elsewhere.
    """
    return [_time_batch(session, concurrency) for concurrency in session.spec.concurrency]


def _time_batch(session: Session, concurrency: int) -> TimedRequests | UntimedRequests:
    spec = session.spec
    assert spec.osl is not None
    try:
        if concurrency != spec.batch:
            session = open_session(spec, session.model, session.device, batch=concurrency)
    except (VariantFailedError, HarnessError) as error:
        return UntimedRequests(concurrency, spec.isl, spec.osl, failure_in(error))
    for _ in range(spec.warmup):
        _run_request(session)
    repetitions = max(spec.steps, MIN_REQUEST_REPETITIONS)
    rows = [_run_request(session) for _ in range(repetitions)]
    ttft_ns = [times[0] for times in rows]
    latency_ns = [times[-1] for times in rows]
    # Mean over a request's decode steps, one value for each request.
    itl_ns = [round((times[-1] - times[0]) / session.decode_steps) for times in rows if times[1:]]
    latency = round(statistics.median(latency_ns))
    return TimedRequests(
        concurrency=concurrency,
        isl=spec.isl,
        osl=spec.osl,
        repetitions=repetitions,
        captured=session.captured,
        samples=RequestSamples(tuple(ttft_ns), tuple(itl_ns), tuple(latency_ns)),
        ttft_ns=round(statistics.median(ttft_ns)),
        itl_ns=round(statistics.median(itl_ns)) if itl_ns else None,
        latency_ns=latency,
        requests_per_s=concurrency * 1e9 / latency,
        tokens_per_s=concurrency * (session.decode_steps + 1) * 1e9 / latency,
    )


def _run_request(session: Session) -> list[int]:
    """One batch of requests: the time at which each token was there, in ns.

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
    return times
