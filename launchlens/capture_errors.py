"""Errors with which captures fail, told by their text: what each is and what helps.

The harness hints at them where they happen (`CaptureError.hint`), blockers say what to do about
them (`CaptureError.remedy`); a rule of `launchlens.blockers.rules` names the errors that answer to
it. Texts as torch 2.7 to 2.13 and CUDA 12 and 13 write them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CAPTURE_CODES = range(900, 909)
"""What calls return that a capture does not allow (cudaErrorStreamCapture…)."""
INVALIDATED = 901
"""What they return once an earlier call has ended the capture."""


@dataclass(frozen=True, slots=True)
class CaptureError:
    """One kind of capture error."""

    name: str
    """By which rules know it."""
    pattern: str
    """Regular expression that finds it in a text, whatever the case."""
    title: str
    """What it is, in a line."""
    remedy: str
    """What to do about it."""
    hint: str | None = None
    """The same for one who sees the error itself, where that says more than the error does."""
    code: int | None = None
    """Its number in CUDA, where it has one of its own."""


def find_error(text: str) -> CaptureError | None:
    """The capture error that a text, an error's first line or more, tells of; None if unknown."""
    return next((e for e in ERRORS if re.search(e.pattern, text, re.IGNORECASE | re.DOTALL)), None)


def error_of_code(code: int) -> CaptureError:
    """The capture error that CUDA numbers so, one of `CAPTURE_CODES`."""
    return next(e for e in ERRORS if e.code == code)


def _code(number: int, name: str) -> str:
    """Texts that name an error of the runtime or the driver: number, or either spelling."""
    driver = re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()
    return rf"\b(?:error|code|status)\D{{0,12}}{number}\b|cudaError{name}|CUDA_ERROR_{driver}"


# The first pattern that matches decides: exact texts of libraries before CUDA's general ones.
ERRORS = (
    CaptureError(
        "refused-copy",
        r"Cannot copy between CPU and CUDA tensors during CUDA graph capture",
        "copy between host and GPU while capturing",
        "Keep the value on the GPU (a registered buffer, torch.full, a Python number); for "
        "real inputs use pinned memory, copied into a static buffer before the replay.",
        "A copy between CPU and GPU is in the step: keep the value in a registered buffer, build "
        "it on the GPU (torch.full), or use a Python scalar.",
    ),
    CaptureError(
        "generator-read",
        r"Cannot call CUDAGeneratorImpl::\w+ during CUDA graph capture"
        r"|current_seed during CUDA graph capture",
        "random generator asked while capturing",
        "Do not seed or read the generator in the step; register it with the graph "
        "(graph.register_generator_state) or draw the numbers outside.",
        "A random generator is read in the step: leave dropout and seeding out of it.",
    ),
    CaptureError(
        "generator-outside",
        r"Offset increment outside graph capture",
        "random generator used outside its graph",
        "Draw random numbers on the capturing stream only, and finish warm-up before capture.",
        "A random generator was used outside the capture it is registered with: draw random "
        "numbers outside the step, or register the generator with the graph.",
    ),
    CaptureError(
        "empty-graph",
        r"The CUDA Graph is empty",
        "empty graph",
        "Launch on torch.cuda.current_stream() of the capturing device; look for kernels on "
        "the default stream.",
        "The captured code launched nothing on the capturing stream: check that it works on the "
        "current stream.",
    ),
    CaptureError(
        "attention-not-registered",
        r"Attention layer is not registered",
        "attention layer not registered with the engine",
        "Register the layer in the model's attention module, or turn piecewise graphs off for "
        "this model.",
        "The engine never registered this attention layer for capture, so the step stays eager.",
    ),
    CaptureError(
        "data-dependent",
        r"data-dependent",
        "control flow that depends on data",
        "Keep the decision on the GPU (torch.where), or leave that part out of the graph.",
        "The step's control flow depends on a tensor's value: keep the decision on the GPU or "
        "leave that part out of the graph.",
    ),
    CaptureError(
        "dynamic-size",
        r"nonzero is not supported for meta",
        "a size that depends on data",
        "Use a mask of fixed shape, or give the size as an argument.",
        "The number of selected elements depends on data: use a mask of fixed shape.",
    ),
    CaptureError(
        "other-thread",
        r"conflicts with a stream capture sequence initiated from another thread",
        "another thread called CUDA while this one captured",
        'Capture with capture_error_mode="thread_local", or pause the other thread.',
    ),
    CaptureError(
        "not-permitted",
        r"operation not permitted when stream is capturing|"
        + _code(900, "StreamCaptureUnsupported"),
        "operation not permitted when stream is capturing (900)",
        "Look at the line that fails, and at what waits, asks or allocates in the eager step; "
        "warm up first.",
        "The step synchronizes, allocates or queries an event while capturing (900): find .item(), "
        "a copy to the CPU, nonzero, or another thread's CUDA calls.",
        code=900,
    ),
    CaptureError(
        "invalidated",
        r"failed due to a previous error during capture|" + _code(901, "StreamCaptureInvalidated"),
        "capture invalidated by an earlier error (901)",
        "Look for the first error in the log, also in other threads; with "
        'capture_error_mode="thread_local" other threads cannot be it.',
        "An earlier call ended the capture (901): the first error of the step is the cause.",
        code=901,
    ),
    CaptureError(
        "merge",
        r"would result in a merge of separate capture|" + _code(902, "StreamCaptureMerge"),
        "two captures would be merged (902)",
        "Capture one stream at a time, forked streams included.",
        "Two captures were merged: one stream must not join the capture of another.",
        code=902,
    ),
    CaptureError(
        "unmatched",
        r"capture was not ended in the same stream|" + _code(903, "StreamCaptureUnmatched"),
        "capture ended on another stream than it began (903)",
        "End the capture on the stream that began it.",
        code=903,
    ),
    CaptureError(
        "unjoined",
        r"unjoined work|" + _code(904, "StreamCaptureUnjoined"),
        "a forked stream was not joined (904)",
        "Join every side stream (current.wait_stream(side)) before the step ends.",
        "Work on a side stream was not joined to the capturing stream before the capture ended.",
        code=904,
    ),
    CaptureError(
        "isolation",
        r"depend(?:ency created|ency|s)? on uncaptured work|crosses the capture|"
        + _code(905, "StreamCaptureIsolation"),
        "dependency on work outside the capture (905)",
        "Wait for earlier work before capturing; fork from the capturing stream; for real "
        "dependencies use external events.",
        "The step waits for work that was recorded before the capture began (isolation).",
        code=905,
    ),
    CaptureError(
        "implicit",
        r"legacy stream|implicit dependency|" + _code(906, "StreamCaptureImplicit"),
        "implicit dependency on the default stream (906)",
        "Launch on the current stream; create streams as non-blocking.",
        "The step uses the legacy default stream while another stream is capturing: put all work "
        "on one stream.",
        code=906,
    ),
    CaptureError(
        "captured-event",
        r"operation not permitted on an event last recorded in a capturing stream|"
        + _code(907, "CapturedEvent"),
        "query or wait on an event of the capture (907)",
        "Do not query, time or synchronize events of the step; record external events.",
        code=907,
    ),
    CaptureError(
        "wrong-thread",
        r"attempt to terminate a thread-local capture sequence from another thread|"
        + _code(908, "StreamCaptureWrongThread"),
        "capture ended by another thread (908)",
        'Begin and end on one thread, or capture with capture_error_mode="relaxed".',
        code=908,
    ),
    CaptureError(
        "out-of-memory",
        r"out of memory",
        "out of memory while capturing",
        "Free caches before the capture, share one pool between graphs, or capture fewer shapes.",
        "The GPU has too little free memory: fewer layers, a smaller batch or another dtype helps.",
    ),
)
