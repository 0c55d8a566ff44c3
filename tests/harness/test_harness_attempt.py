"""Capture attempts, with a stand-in for capture: copies between devices fail while it runs."""

from contextlib import contextmanager

import pytest

from launchlens.harness.attempt import make_step, run_attempts
from launchlens.harness.variants.base import Context

torch = pytest.importorskip("torch", reason="needs torch")


pytestmark = pytest.mark.torch
MESSAGE = "Cannot copy between CPU and CUDA tensors during CUDA graph capture unless…"


# Stands below everything else, as the real copy does, and fails while capturing. Compiled
# without a file: torch's own refusal has no line in Python either.
BUS = f"""
class Bus(TorchDispatchMode):
    capturing = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {{}}
        if self.capturing and func.overloadpacket.__name__ == "_to_copy" and "device" in kwargs:
            raise RuntimeError({MESSAGE!r})
        return func(*args, **kwargs)
"""
NAMES = {"TorchDispatchMode": torch.utils._python_dispatch.TorchDispatchMode}
exec(compile(BUS, "<bus>", "exec"), NAMES)
Bus = NAMES["Bus"]


@contextmanager
def bus():
    with Bus() as mode:

        def capture(forward):
            mode.capturing = True
            try:
                output = forward()
            finally:
                mode.capturing = False
            return lambda: output

        yield mode, capture


GPU = torch.ones(4, device="meta")


def two_copies():
    first = torch.tensor(1.0).to("meta")
    second = torch.tensor(2.0).to("meta")
    return GPU + first + second


def attempt(forward, **options):
    context = Context(phase="prefill", device="meta", reset=lambda: None)
    with bus() as (_, capture):
        step = make_step(None, forward, context, capture)
        result, failure, replay = run_attempts(step, **options)
        assert (replay is not None) == result.captured
        return result, failure


def source(offset):
    return f"test_harness_attempt.py:{two_copies.__code__.co_firstlineno + offset}"


def test_a_clean_step_captures():
    result, failure = attempt(lambda: GPU * 2)
    assert (result.captured, result.blockers, failure) == (True, (), None)


def test_the_first_blocker_is_reported_with_its_line():
    result, failure = attempt(two_copies)
    assert result.captured is False
    assert [item.source for item in result.blockers] == [source(1)]
    blocker = result.blockers[0]
    assert (blocker.kind, blocker.bytes, blocker.count) == ("htod", 4, 1)
    assert failure.error_line == MESSAGE
    assert result.cleared is None
    assert len(result.events) == 2


def test_keep_going_finds_all_blockers_in_order_and_then_captures():
    result, failure = attempt(two_copies, keep_going=True)
    assert [(item.order, item.source) for item in result.blockers] == [
        (1, source(1)),
        (2, source(2)),
    ]
    assert result.captured is True
    assert failure.source == source(1)


def there_and_back():
    return torch.tensor(1.0).to("meta").cpu() + 1, GPU * 2


def test_what_else_is_on_a_patched_line_is_neither_met_nor_cleared():
    result, _ = attempt(there_and_back, keep_going=True)
    line = f"test_harness_attempt.py:{there_and_back.__code__.co_firstlineno + 1}"
    assert [event.kind for event in result.events if event.source == line] == ["htod", "dtoh"]
    assert result.captured is True
    assert result.patched_sources == (line,)
    assert result.cleared == ()


def test_a_new_process_goes_on_where_the_last_one_stopped():
    result, _ = attempt(two_copies, patched_sources=(source(1),))
    assert [item.source for item in result.blockers] == [source(2)]


def test_a_read_that_capture_does_not_mind_is_cleared():
    def step():
        return GPU * GPU.sum().item()

    result, _ = attempt(step)
    assert result.captured is True
    (cleared,) = result.cleared
    assert (cleared.kind, cleared.bytes, cleared.count) == ("dtoh", 4, 1)
    assert cleared.seen_while_capturing is True


def test_a_failure_that_is_no_copy_ends_the_attempts():
    def step():
        return GPU + 1

    context = Context(phase="prefill", device="meta", reset=lambda: None)

    def capture(_):
        raise RuntimeError("The CUDA Graph is empty.")

    result, _, replay = run_attempts(make_step(None, step, context, capture), keep_going=True)
    assert replay is None
    assert result.captured is False
    assert "nothing to patch over" in result.stopped
    assert result.stop_code == "no-copy-known"
