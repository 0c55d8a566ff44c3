"""Every error text is recognized. CUDA's own texts come from its runtime, where it is there."""

import ctypes
from pathlib import Path

import pytest

from launchlens.blockers import rules
from launchlens.blockers.confirm import rule_of_error
from launchlens.capture_errors import ERRORS, find_error

# cudaGetErrorString and cudaGetErrorName of CUDA 13.0.
CUDA_TEXTS = {
    900: ("cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing"),
    901: (
        "cudaErrorStreamCaptureInvalidated",
        "operation failed due to a previous error during capture",
    ),
    902: (
        "cudaErrorStreamCaptureMerge",
        "operation would result in a merge of separate capture sequences",
    ),
    903: (
        "cudaErrorStreamCaptureUnmatched",
        "capture was not ended in the same stream as it began",
    ),
    904: ("cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"),
    905: (
        "cudaErrorStreamCaptureIsolation",
        "dependency created on uncaptured work in another stream",
    ),
    906: (
        "cudaErrorStreamCaptureImplicit",
        "operation would make the legacy stream depend on a capturing blocking stream",
    ),
    907: (
        "cudaErrorCapturedEvent",
        "operation not permitted on an event last recorded in a capturing stream",
    ),
    908: (
        "cudaErrorStreamCaptureWrongThread",
        "attempt to terminate a thread-local capture sequence from another thread",
    ),
}
DRIVER_NAMES = {
    900: "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
    904: "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
    907: "CUDA_ERROR_CAPTURED_EVENT",
    908: "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
}


@pytest.mark.parametrize("code", CUDA_TEXTS)
def test_cuda_errors_by_text_name_and_number(code):
    name, text = CUDA_TEXTS[code]
    forms = [f"CUDA error: {text}", name, f"CUDA error {code}", f"failed with error code {code}"]
    for form in [*forms, DRIVER_NAMES.get(code, name)]:
        assert find_error(form).title.endswith(f"({code})"), form


def test_the_texts_are_those_of_the_cuda_runtime_here():
    paths = list(Path("/usr/local").glob("cuda*/lib*/libcudart.so*"))
    if not paths:
        pytest.skip("no libcudart on this machine")
    runtime = ctypes.CDLL(sorted(paths)[-1])
    runtime.cudaGetErrorString.restype = ctypes.c_char_p
    for code, (_, text) in CUDA_TEXTS.items():
        assert runtime.cudaGetErrorString(code).decode() == text


@pytest.mark.parametrize(
    ("text", "rule", "hint"),
    [
        (
            "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU "
            "tensor is pinned. Please use tensor.pin_memory()",
            "pageable-htod",
            "buffer",
        ),
        (
            "Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture. If you need",
            None,
            "register",
        ),
        ("Offset increment outside graph capture encountered unexpectedly.", None, "random"),
        ("The CUDA Graph is empty. This usually means", "legacy-stream", "current_stream"),
        ("AssertionError: Attention layer is not registered", None, "Register"),
        (
            "API call conflicts with a stream capture sequence initiated from another thread",
            "event-query",
            "thread_local",
        ),
    ],
)
def test_texts_of_libraries(text, rule, hint):
    assert rule_of_error(text) == rule
    assert hint in find_error(text).remedy


def test_unknown_texts_say_so():
    for text in ("", "KeyError: 'x'", "CUDA error 9001", "HTTP status 904417"):
        assert find_error(text) is None


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        (900, "dtoh-sync"),
        (901, None),
        *((code, "legacy-stream") for code in (902, 903, 904, 905, 906)),
        (907, "event-query"),
        (908, None),
    ],
)
def test_a_cuda_error_names_the_rule_that_it_means_first(code, rule):
    assert rule_of_error(CUDA_TEXTS[code][1]) == rule


def test_rules_answer_to_errors_that_there_are():
    names = [error.name for error in ERRORS]
    assert len(set(names)) == len(names)
    assert {name for rule in rules() for name in rule.errors} <= set(names)
