"""A CUDA graph's stand-in on the CPU: it notes operators and runs them again on the same memory."""

from __future__ import annotations

from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Tape(TorchDispatchMode):
    """Notes operators, but for those on the default stream, and replays them without Python."""

    def __init__(self):
        super().__init__()
        self.calls = []
        self.elsewhere = False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if not self.elsewhere:
            self.calls.append((func, args, kwargs or {}, out))
        return out

    def replay(self):
        for func, args, kwargs, out in self.calls:
            for old, new in zip(tree_leaves(out), tree_leaves(func(*args, **kwargs)), strict=True):
                if isinstance(old, torch.Tensor) and old.data_ptr() != new.data_ptr():
                    old.copy_(new)


class Device:
    """What torch.cuda answers while a tape notes: whether it captures, on which stream."""

    def __init__(self, monkeypatch):
        self.tape = None
        monkeypatch.setattr(
            torch.cuda, "is_current_stream_capturing", lambda: self.tape is not None
        )
        monkeypatch.setattr(torch.cuda, "default_stream", lambda: None)
        monkeypatch.setattr(torch.cuda, "stream", self._on_default_stream)

    @contextmanager
    def _on_default_stream(self, _stream):
        tape = self.tape
        if tape is not None:
            tape.elsewhere = True
        yield
        if tape is not None:
            tape.elsewhere = False

    def capture(self, forward, mode="global"):
        """As `launchlens.harness.attempt.capture_graph`."""
        self.tape = Tape()
        try:
            with self.tape as tape:
                output = forward()
        finally:
            self.tape = None

        def replay():
            tape.replay()
            return output

        return replay
