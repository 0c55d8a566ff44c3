"""What would spoil a recording, found before it begins."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

from launchlens import capture
from launchlens.errors import CaptureError, UsageError
from launchlens.workflow.running.plan import RunPlan

_SAMPLES = re.compile(r"^(-s|--sample)(=|$)|^--(cpuctxsw|cudabacktrace|python-sampling)")
_OFF = re.compile(r"(none|false)$")


def refuse(plan: RunPlan) -> None:
    """End before anything starts where the recording could only fail.

    Raises:
        UsageError: a server is there already at the port of this one.
        CaptureError: sampling was asked for, and the kernel forbids it.
    """
    if plan.port is not None and capture.answers_at(plan.port):
        raise UsageError(
            f"Something answers at port {plan.port} already: this server could not listen there, "
            "or requests would go to the other one.",
            hint="Stop it, or choose another port.",
        )
    level = capture.sampling_forbidden()
    if level is not None and _wants_samples(plan):
        raise CaptureError(
            f"kernel.perf_event_paranoid is {level}, which forbids the sampling that --nsys-arg "
            "asks for.",
            hint="sudo sysctl kernel.perf_event_paranoid=2, or leave it out.",
        )


def remarks(plan: RunPlan) -> Iterator[str]:
    """What may spoil it, in sentences."""
    injections = capture.find_injections({**os.environ, **plan.environment})
    if injections:
        yield (
            f"{', '.join(injections)} loads another tool, with which nsys cannot share CUPTI: "
            f"unset {' '.join(injections)}."
        )
    if others := capture.find_tracing_processes():
        listed = ", ".join(f"{pid} ({name})" for pid, name in others[:5])
        yield (
            f"other profilers run already: {listed}. If they hold CUPTI, no kernels are recorded; "
            "nsys sessions list and nsys shutdown end sessions that were left over."
        )


def _wants_samples(plan: RunPlan) -> bool:
    words = plan.tracing.extra
    return any(
        _SAMPLES.search(word) and not _OFF.search(word if "=" in word else following)
        for word, following in itertools.pairwise((*words, ""))
    )
