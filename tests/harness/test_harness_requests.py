"""Figures of requests from the times at which their tokens were there; no model is run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from launchlens.harness import requests

# When each of five tokens was there, of three requests: three latencies, decode steps of 100 ns,
# of 110 and of 90 in the mean.
TIMES = [[50, 150, 250, 350, 450], [60, 160, 280, 390, 500], [55, 135, 235, 325, 415]]


@pytest.fixture
def timed(monkeypatch):
    rows = iter([[1, 2, 3, 4, 5], *TIMES])
    monkeypatch.setattr(requests, "_run_request", lambda _session: next(rows))
    monkeypatch.setattr(requests, "MIN_REQUEST_REPETITIONS", 3)
    spec = SimpleNamespace(osl=5, isl=25, batch=2, warmup=1, steps=1, concurrency=(2,))
    (found,) = requests.time_requests(SimpleNamespace(spec=spec, decode_steps=4, captured={}))
    return found


def test_inter_token_latency_is_the_mean_over_decode_steps(timed):
    assert timed.samples.itl_ns == (100, 110, 90)
    assert timed.itl_ns == 100


def test_first_token_latency_and_throughput(timed):
    assert (timed.ttft_ns, timed.latency_ns, timed.repetitions) == (55, 450, 3)
    assert timed.requests_per_s == pytest.approx(2 / 450e-9)
    assert timed.tokens_per_s == pytest.approx(2 * 5 / 450e-9)
