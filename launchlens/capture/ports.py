"""Whether a server listens at a port of this machine."""

from __future__ import annotations

import socket


def answers_at(port: int, *, host: str = "127.0.0.1", timeout_s: float = 0.5) -> bool:
    """Whether something accepts connections there."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s):
            return True
    except OSError:
        return False
