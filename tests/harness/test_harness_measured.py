"""What is timed and what is held, on a GPU that is played: work goes on after the call."""

from types import SimpleNamespace

import pytest

from launchlens.harness import program, requests, steps
from launchlens.protocol.result import TimeResult
from launchlens.protocol.spec import MIN_TIMED_STEPS, HarnessSpec

CALL_NS, WORK_NS = 100, 9_000


class PlayedGpu:
    """A clock: a step's call takes CALL_NS, its work is over WORK_NS after the call began."""

    def __init__(self, monkeypatch):
        self.now, self.done = 0, 0
        clock = SimpleNamespace(perf_counter_ns=lambda: self.now)
        for module in (steps, requests):
            monkeypatch.setattr(module, "synchronize", self.synchronize)
            monkeypatch.setattr(module, "time", clock)

    def submit(self):
        self.done = max(self.now, self.done) + WORK_NS
        self.now += CALL_NS

    def synchronize(self, _device):
        self.now = max(self.now, self.done)


def test_an_untraced_step_is_timed_to_the_end_of_its_work(monkeypatch):
    gpu = PlayedGpu(monkeypatch)
    inputs = SimpleNamespace(rewind=lambda _length: None)
    session = SimpleNamespace(
        spec=HarnessSpec(model="m", result_path="r", warmup=3),
        device="cuda",
        inputs=inputs,
        decode_steps=2,
        feed=lambda _index: None,
        run_prefill=gpu.submit,
        run_decode=lambda _index: gpu.submit(),
    )
    timed = steps.time_steps(session)
    assert set(timed["prefill"].samples_ns) == set(timed["decode"].samples_ns) == {WORK_NS}
    assert len(timed["prefill"].samples_ns) == MIN_TIMED_STEPS
    assert len(timed["decode"].samples_ns) == 2 * MIN_TIMED_STEPS
    assert timed["decode"].median_ns == WORK_NS


class PlayedMemory:
    """torch.cuda's counters: the most that was held since they were reset."""

    def __init__(self):
        self.held = self.peak = 0

    def hold(self, amount):
        self.held = amount
        self.peak = max(self.peak, amount)

    def reset_peak_memory_stats(self):
        self.peak = self.held

    def max_memory_reserved(self):
        return self.peak

    def empty_cache(self):
        self.hold(min(self.held, 40))


def test_peak_memory_leaves_out_what_building_took(monkeypatch):
    """Building holds 90 for a moment and leaves 40; the steps hold 60."""
    torch = pytest.importorskip("torch", reason="needs torch")
    memory = PlayedMemory()
    for name in ("reset_peak_memory_stats", "max_memory_reserved", "empty_cache"):
        monkeypatch.setattr(torch.cuda, name, getattr(memory, name))
    session = SimpleNamespace(
        captured={},
        prepare_ns={},
        prepared={},
        graph_memory_bytes=None,
        variant=SimpleNamespace(compiles=False, captures=False),
        decode_failure=None,
        notes=[],
    )

    def build(*_):
        memory.hold(90)
        return SimpleNamespace(facts=None, notes=(), module=None)

    def time_steps(_session):
        memory.hold(60)
        return {}

    for name, played in {
        "_require_packages": lambda: None,
        "pick_device": lambda _wanted: "cuda",
        "read_environment": lambda _device: None,
        "build_model": build,
        "open_session": lambda *_: session,
        "time_steps": time_steps,
        "time_requests": lambda _session: [],
    }.items():
        monkeypatch.setattr(program, name, played)
    result = program.run_spec(HarnessSpec(model="m", result_path="r"))
    assert isinstance(result, TimeResult)
    assert result.error is None, result.error
    assert result.peak_memory_bytes == 60
