"""What a benchmark of a server measured: request-level figures of another tool's result file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over the requests of a benchmark; null where its file does not tell."""

    mean: float | None = None
    """Mean over the requests."""
    median: float | None = None
    """Median."""
    p99: float | None = None
    """99% quantile."""

    @property
    def is_known(self) -> bool:
        """Whether the file tells any of it."""
        return any(value is not None for value in (self.mean, self.median, self.p99))


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkResult:
    """A benchmark at one load, as its tool measured it, without a profiler of ours."""

    tool: str
    """Tool that wrote the file."""
    file: str
    """Name of the file."""
    model: str | None = None
    """Model that was served."""
    isl: float | None = None
    """Input tokens of a request, mean."""
    osl: float | None = None
    """Output tokens of a request, mean."""
    concurrency: float | None = None
    """Most requests at once; null where only a rate was set."""
    completed: int | None = None
    """Requests that were answered."""
    failed: int | None = None
    """Requests that were not."""
    ttft_ns: Spread = Spread()
    """Time to first token."""
    tpot_ns: Spread = Spread()
    """Time per output token of a request, without the first."""
    itl_ns: Spread = Spread()
    """Time from one token to the next."""
    latency_ns: Spread = Spread()
    """Time of a whole request."""
    requests_per_s: float | None = None
    """Requests each second."""
    tokens_per_s: float | None = None
    """Output tokens each second."""
