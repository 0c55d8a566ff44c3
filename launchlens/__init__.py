"""launchlens: why a model's forward pass waits for the CPU, and what a CUDA graph would bring.

The public Python API; everything else may change between releases::

    import launchlens

    trace = launchlens.read_trace("eager.sqlite.xz")
    analysis = launchlens.summarize(trace, phase="prefill")
    analysis.steps_frame()  # a pandas DataFrame, a row a step
    launchlens.compare([baseline, candidate]).frame()
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from launchlens.api import compare, read_trace, summarize
    from launchlens.errors import LaunchlensError

__all__ = ["LaunchlensError", "compare", "read_trace", "summarize"]


def __getattr__(name: str) -> Any:
    """Load the public names when they are first used, so that ``--help`` stays quick."""
    if name == "LaunchlensError":
        from launchlens.errors import LaunchlensError

        return LaunchlensError
    if name in __all__:
        from launchlens import api

        return getattr(api, name)
    raise AttributeError(f"module 'launchlens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
