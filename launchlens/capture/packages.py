"""The Python packages of the interpreter that will run the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from launchlens.capture.check import Check
from launchlens.capture.process import read_output

if TYPE_CHECKING:
    from launchlens.capture.environment import Gpu

TORCH_NEEDED = (2, 7)
TRANSFORMERS_NEEDED = (5, 0)
INSTALL_PROFILE = "pip install 'launchlens[profile]'"

# Runs in a child: importing torch takes seconds and may crash where drivers and CUDA disagree.
_PYTHON_FACTS = """
import importlib.metadata as m, json
facts = {}
for name in ("nvtx", "transformers", "breakable-cuda-graphs"):
    try: facts[name] = m.version(name)
    except m.PackageNotFoundError: facts[name] = None
try:
    import torch
    facts |= {"torch": torch.__version__, "cuda": torch.version.cuda,
              "available": torch.cuda.is_available()}
except ImportError as error:
    facts |= {"torch": None, "torch_error": str(error)}
print("FACTS" + json.dumps(facts))
"""


@dataclass(frozen=True, slots=True)
class Python:
    """Versions in the interpreter that will run the model; `error` when they cannot be read."""

    facts: dict[str, str | bool | None]
    error: str | None = None

    def version(self, name: str) -> str | None:
        """A fact that is a text, None when it is missing or something else."""
        value = self.facts.get(name)
        return value if isinstance(value, str) else None


def read_python(python: str) -> Python:
    """Asks an interpreter which packages it has; never raises for what it answers."""
    said = read_output([python, "-c", _PYTHON_FACTS], timeout_s=120)
    for line in said.text.splitlines():
        if line.startswith("FACTS"):
            return Python(json.loads(line.removeprefix("FACTS")))
    last = said.text.strip().splitlines()[-1:] or ["it said nothing"]
    return Python({}, f"{python} could not tell its packages: {last[0]}")


def check_torch(python: Python, gpus: tuple[Gpu, ...] | None) -> Check:
    """Whether torch is there, new enough, and able to use the GPU."""
    version = python.version("torch")
    if version is None:
        detail = python.error or python.version("torch_error") or "torch is not installed"
        return Check("torch and CUDA", "fail", detail, f"{INSTALL_PROFILE}.")
    cuda = python.version("cuda")
    detail = f"torch {version}, built for {f'CUDA {cuda}' if cuda else 'the CPU only'}"
    if _older(version, TORCH_NEEDED):
        needed = ".".join(map(str, TORCH_NEEDED))
        return Check(
            "torch and CUDA", "fail", detail, f"torch {needed} is needed: {INSTALL_PROFILE}."
        )
    if gpus is None:
        return Check("torch and CUDA", "warn", f"{detail}; no GPU to run on", "See GPU and driver.")
    if not python.facts.get("available"):
        return Check(
            "torch and CUDA",
            "fail",
            f"{detail}; it cannot use the GPU (driver {gpus[0].driver})",
            "Install a torch built for a CUDA version that the driver supports.",
        )
    return Check("torch and CUDA", "ok", f"{detail}; it can use the GPU")


def check_transformers(python: Python) -> Check:
    """Whether transformers is there and new enough."""
    version = python.version("transformers")
    if version is None:
        detail = python.error or "transformers is not installed"
        return Check("transformers", "fail", detail, f"{INSTALL_PROFILE}.")
    if _older(version, TRANSFORMERS_NEEDED):
        needed = ".".join(map(str, TRANSFORMERS_NEEDED))
        remedy = f"transformers {needed} is needed: {INSTALL_PROFILE}."
        return Check("transformers", "fail", f"transformers {version}", remedy)
    return Check("transformers", "ok", f"transformers {version}")


def check_breakable(python: Python) -> Check:
    """Whether the package behind --variant breakable is there."""
    version = python.version("breakable-cuda-graphs")
    if version is None:
        return Check(
            "breakable-cuda-graphs",
            "warn",
            python.error or "breakable-cuda-graphs is not installed",
            "Needed for --variant breakable only: pip install breakable-cuda-graphs.",
        )
    return Check("breakable-cuda-graphs", "ok", f"breakable-cuda-graphs {version}")


def _older(version: str, needed: tuple[int, int]) -> bool:
    """Whether a version such as "2.7.1+cu128" is older than (2, 7); unreadable ones are not."""
    parts = version.split(".")[:2]
    return all(part.isdigit() for part in parts) and tuple(map(int, parts)) < needed
