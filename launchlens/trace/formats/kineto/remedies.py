"""What a recording of torch.profiler may lack, and how it is made to have it."""

from __future__ import annotations

from launchlens.records.metric import Flaw
from launchlens.records.recorder import Need, Recorder

_BOTH = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
RECORDER = Recorder(
    {
        Need.CALLS: f"record it on a machine with a GPU, with {_BOTH}",
        Need.EVENTS: f"record it again with {_BOTH}, over fewer steps",
        Need.RANGES: "record it again with torch.profiler.record_function('step') around each "
        "forward step, or call prof.step() after each",
        Need.GRAPH_WORK: "if they are not empty, record fewer steps",
        Need.GPU_NUMBERS: "look at the file of each rank by itself",
    },
    {
        Need.GRAPH_WORK: "torch.profiler records the single operations of graphs, so the graphs "
        "are empty, or their events were lost"
    },
    lacks=frozenset((Flaw.FILTERED, Flaw.RESULTS)),
)
FILTERED = (
    "torch.profiler records few calls of the driver API and no event creation: sync and alloc "
    "calls are lower bounds. It does not tell which calls failed."
)
WITH_STACKS = (
    "recorded with_stack=True: each call of a Python function is recorded too, which stretches all "
    "times of the host (a step of 37 ms to 80 ms, measured on one H200), and so idle. Record "
    "without it for times."
)
