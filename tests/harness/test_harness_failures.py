import pytest

from launchlens.harness.failures import describe_failure, find_hint


# The texts as torch and CUDA write them.
@pytest.mark.parametrize(
    ("text", "word"),
    [
        (
            "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU "
            "tensor is pinned. Please use tensor.pin_memory()",
            "buffer",
        ),
        ("CUDA error: operation not permitted when stream is capturing", "900"),
        ("CUDA error: operation failed due to a previous error during capture", "901"),
        ("Cannot call CUDAGeneratorImpl::current_seed during CUDA graph capture", "random"),
        ("Offset increment outside graph capture encountered unexpectedly.", "random"),
        ("The CUDA Graph is empty. This usually means…", "launched nothing"),
        ("Attention layer is not registered", "never registered"),
        ("CUDA out of memory. Tried to allocate 2 GiB", "memory"),
    ],
)
def test_known_capture_errors_are_explained(text, word):
    assert word in find_hint(text)


def test_an_unknown_error_is_not_explained():
    assert find_hint("ValueError: something else") is None


class Capture:
    """Ends like torch.cuda.graph: a broken capture raises again over the first error."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        raise RuntimeError("operation failed due to a previous error during capture")


def model_step():
    raise RuntimeError("operation not permitted when stream is capturing\nCUDA kernel errors…")


def test_the_first_error_of_a_capture_is_shown_with_its_line():
    with pytest.raises(RuntimeError) as caught, Capture():
        model_step()
    failure = describe_failure(caught.value, phase="prefill")
    line = model_step.__code__.co_firstlineno + 1
    assert failure.error_line == "operation not permitted when stream is capturing"
    assert failure.source == f"test_harness_failures.py:{line}"
    assert failure.function == "model_step"
    assert "900" in failure.hint
    assert "previous error" in failure.traceback


def test_an_error_that_was_handled_before_is_not_mistaken_for_the_cause():
    def step():
        try:
            raise KeyError("handled")
        except KeyError:
            raise ValueError("the real one")  # noqa: B904

    with pytest.raises(ValueError, match="real") as caught:
        step()
    assert describe_failure(caught.value).error_type == "ValueError"
