"""Code is loaded, compiled or tuned inside the step.

What: cuModuleLoad*, cuLibraryLoad*, cuLinkComplete in the step, and cudaEventElapsedTime, which
means that something is timing kernels (autotuning).

Why it blocks: loading may wait for the device and allocates; tuning launches kernels that do not
belong to the step and reads their times. Both belong to the first use of a kernel.

Example: the first step of a new shape with Triton, torch.compile inside the captured region,
CUDA_MODULE_LOADING=LAZY at first use.

Remedy: run the step a few times with the same shapes before capturing, so that everything is
loaded, compiled and tuned.

References: vllm-project/vllm-omni#5107; CUDA C++ Programming Guide, "Lazy loading".
"""

from __future__ import annotations

from launchlens.blockers.hits import Hits, Rule
from launchlens.blockers.view import View
from launchlens.blockers.words import by_call_name, call_title, first_use_or_always
from launchlens.calls import CallKind

TIMING = r"cu(da)?EventElapsedTime"
FIRST_NOTE = "Only in the first steps: first use. Warming up before the capture cures it."


def find(view: View) -> list[Hits]:
    """Loads and timings by the step's thread."""
    found = (
        (view.rows_with(CallKind.LOAD), ""),
        (view.rows_named(TIMING), " (something times kernels)"),
    )
    return [
        first_use_or_always(view, *chosen, name + suffix, FIRST_NOTE)
        for calls, suffix in found
        for name, chosen in by_call_name(view, *calls)
    ]


RULE = Rule(
    id="lazy-load",
    rank=80,
    errors=("not-permitted", "other-thread", "captured-event"),
    fails_as=(CallKind.LOAD,),
    strength="high at first use",
    remedy="Warm up: run the step with the same shapes before capturing.",
    title=call_title("code is loaded in the step: {kinds}"),
    find=find,
)
