"""Texts with which captures fail: what each means, which rule it belongs to, what helps."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a capture error means. ``rule`` is None where no single rule is meant."""

    title: str
    explanation: str
    rule: str | None
    hint: str


def _code(number: int, name: str) -> str:
    """Texts that name an error of the runtime or the driver: number, or either spelling."""
    driver = re.sub(r"(?<!^)(?=[A-Z])", "_", name).upper()
    return (
        rf"\b(?:error|code|status)\D{{0,12}}{number}\b"
        rf"|cudaErrorStreamCapture{name}|CUDA_ERROR_STREAM_CAPTURE_{driver}"
    )


# The first pattern that matches decides: exact texts of libraries before CUDA's general ones.
_TABLE: tuple[tuple[str, Explanation], ...] = (
    (
        r"Cannot copy between CPU and CUDA tensors during CUDA graph capture",
        Explanation(
            "copy between host and GPU while capturing",
            "torch refuses to record a copy between a CUDA tensor and pageable host memory: a "
            "replay would read or write memory that may be gone.",
            "pageable-htod",
            "Keep the value on the GPU (a registered buffer, torch.full, a Python number); for "
            "real inputs use pinned memory, copied into a static buffer before the replay.",
        ),
    ),
    (
        r"Cannot call CUDAGeneratorImpl::\w+ during CUDA graph capture",
        Explanation(
            "random generator asked while capturing",
            "The random number generator's state lives on the host and cannot be read in a graph.",
            None,
            "Do not seed or read the generator in the step; register it with the graph "
            "(graph.register_generator_state) or draw the numbers outside.",
        ),
    ),
    (
        r"Offset increment outside graph capture encountered unexpectedly",
        Explanation(
            "random generator used outside its graph",
            "A generator that is registered with a capture was used outside of it, or by work "
            "that is not part of the capture.",
            None,
            "Draw random numbers on the capturing stream only, and finish warm-up before capture.",
        ),
    ),
    (
        r"The CUDA Graph is empty",
        Explanation(
            "empty graph",
            "Nothing was launched on the capturing stream: the work went to another stream or "
            "device, or there was none.",
            "legacy-stream",
            "Launch on torch.cuda.current_stream() of the capturing device; look for kernels on "
            "the default stream.",
        ),
    ),
    (
        r"Attention layer is not registered",
        Explanation(
            "attention layer not registered with the engine",
            "TensorRT-LLM's piecewise capture looks up the attention layer by its index, and this "
            "model never registered it.",
            None,
            "Register the layer in the model's attention module, or turn piecewise graphs off for "
            "this model.",
        ),
    ),
    (
        r"conflicts with a stream capture sequence initiated from another thread",
        Explanation(
            "another thread called CUDA while this one captured",
            "In the global capture mode calls that are unsafe while capturing are refused in all "
            "threads.",
            "event-query",
            'Capture with capture_error_mode="thread_local", or pause the other thread.',
        ),
    ),
    (
        r"operation not permitted when stream is capturing|" + _code(900, "Unsupported"),
        Explanation(
            "operation not permitted when stream is capturing (900)",
            "Something in the step waits for the GPU, allocates or asks for its state: a value is "
            "read back, a synchronize, cudaMalloc, an event query.",
            "dtoh-sync",
            "Look at the line that fails and at the findings of dtoh-sync, explicit-sync and "
            "alloc; warm up first.",
        ),
    ),
    (
        r"failed due to a previous error during capture|" + _code(901, "Invalidated"),
        Explanation(
            "capture invalidated by an earlier error (901)",
            "The capture had failed before: this is only where it was noticed. Another thread can "
            "be the cause.",
            None,
            "Look for the first error in the log, also in other threads; with "
            'capture_error_mode="thread_local" other threads cannot be it.',
        ),
    ),
    (
        r"would result in a merge of separate capture|" + _code(902, "Merge"),
        Explanation(
            "two captures would be merged (902)",
            "A wait joins two independent captures.",
            "legacy-stream",
            "Capture one stream at a time, forked streams included.",
        ),
    ),
    (
        r"capture was not ended in the same stream|" + _code(903, "Unmatched"),
        Explanation(
            "capture ended on another stream than it began (903)",
            "EndCapture was called on a stream that did not begin the capture.",
            "legacy-stream",
            "End the capture on the stream that began it.",
        ),
    ),
    (
        r"unjoined work|" + _code(904, "Unjoined"),
        Explanation(
            "a forked stream was not joined (904)",
            "Work was forked to another stream and the capture ended before it was joined back.",
            "legacy-stream",
            "Join every side stream (current.wait_stream(side)) before the step ends.",
        ),
    ),
    (
        r"dependency created on uncaptured work|depend(?:ency|s)? on uncaptured work"
        r"|crosses the capture|" + _code(905, "Isolation"),
        Explanation(
            "dependency on work outside the capture (905)",
            "The step waits for an event that was recorded before the capture began, or for "
            "another stream's uncaptured work.",
            "legacy-stream",
            "Wait for earlier work before capturing; fork from the capturing stream; for real "
            "dependencies use external events.",
        ),
    ),
    (
        r"would make the legacy stream depend|implicit dependency|" + _code(906, "Implicit"),
        Explanation(
            "implicit dependency on the default stream (906)",
            "The legacy default stream was used while another stream captures.",
            "legacy-stream",
            "Launch on the current stream; create streams as non-blocking.",
        ),
    ),
    (
        r"operation not permitted on an event last recorded in a capturing stream|"
        r"cudaErrorCapturedEvent|CUDA_ERROR_CAPTURED_EVENT|\b(?:error|code|status)\D{0,12}907\b",
        Explanation(
            "query or wait on an event of the capture (907)",
            "An event recorded while capturing stands for a node, not for a time: the host cannot "
            "ask whether it has passed.",
            "event-query",
            "Do not query, time or synchronize events of the step; record external events.",
        ),
    ),
    (
        r"attempt to terminate a thread-local capture sequence from another thread|"
        + _code(908, "WrongThread"),
        Explanation(
            "capture ended by another thread (908)",
            "A capture that is not relaxed must end on the thread that began it.",
            None,
            'Begin and end on one thread, or capture with capture_error_mode="relaxed".',
        ),
    ),
    (
        r"out of memory",
        Explanation(
            "out of memory while capturing",
            "The graph's private pool needs memory beside what eager steps hold.",
            "alloc",
            "Free caches before the capture, share one pool between graphs, or capture fewer "
            "shapes.",
        ),
    ),
)
_UNKNOWN = Explanation(
    "unknown capture error",
    "This text is not known as a capture error.",
    None,
    "Look at the source line of the failure and at the findings of the eager trace.",
)


def explain_error(text: str) -> Explanation:
    """What a capture error means, told by its text.

    Args:
        text: the error's first line, or more of it.

    Returns:
        The explanation; one titled "unknown capture error" for texts that are not known.
    """
    for pattern, explanation in _TABLE:
        if re.search(pattern, text, re.IGNORECASE | re.DOTALL):
            return explanation
    return _UNKNOWN
