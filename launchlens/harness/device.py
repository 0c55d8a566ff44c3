"""The device of a run: which one, its facts, and the few calls that differ on a CPU."""

from __future__ import annotations

import platform
import sys

from launchlens.errors import HarnessError
from launchlens.protocol.facts import Environment


def pick_device(wanted: str) -> str:
    """Resolves ``auto`` to ``cuda`` or ``cpu``, and refuses a GPU that is not there.

    Raises:
        HarnessError: cuda was asked for and torch sees no GPU.
    """
    import torch

    available = torch.cuda.is_available()
    if available or wanted != "cuda":
        return "cuda" if available and wanted != "cpu" else "cpu"
    which = f"torch {torch.__version__} in {sys.executable}"
    if torch.version.cuda is None:
        raise HarnessError(
            f"{which} was built for the CPU only, so it cannot use the GPU.",
            hint="Install a torch built for CUDA there.",
        )
    raise HarnessError(
        f"{which}, built for CUDA {torch.version.cuda}, sees no NVIDIA GPU.",
        hint="`launchlens doctor` checks driver and GPU.",
    )


def synchronize(device: str) -> None:
    """Waits for the device; a CPU has nothing to wait for."""
    if device == "cuda":
        import torch

        torch.cuda.synchronize()


def reserved_bytes(device: str) -> int | None:
    """GPU memory the allocator holds, after giving back what is unused; None on a CPU."""
    if device != "cuda":
        return None
    import torch

    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return int(torch.cuda.memory_reserved())


def peak_bytes(device: str) -> int | None:
    """Largest amount of GPU memory the allocator has held since the model was built.

    Reserved, not allocated: a captured graph's private pool stays reserved while it is idle.
    """
    if device != "cuda":
        return None
    import torch

    return int(torch.cuda.max_memory_reserved())


def read_environment(device: str) -> Environment:
    """Versions and the GPU; the driver is not known here."""
    import torch
    import transformers

    gpu = torch.cuda.get_device_properties(0) if device == "cuda" else None
    return Environment(
        torch=str(torch.__version__),  # a class of torch's own, which is no plain str
        transformers=transformers.__version__,
        cuda=torch.version.cuda,
        gpu=gpu.name if gpu else None,
        gpu_memory_bytes=int(gpu.total_memory) if gpu else None,
        gpu_compute_capability=f"{gpu.major}.{gpu.minor}" if gpu else None,
        driver=None,
        python=platform.python_version(),
    )
