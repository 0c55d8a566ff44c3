"""The Python packages of the interpreter that will run the model."""

from __future__ import annotations

import json
from dataclasses import dataclass

from launchlens.capture.environment import Gpu
from launchlens.capture.process import read_output
from launchlens.records.doctor import Check

TORCH_NEEDED = "2.7"
TRANSFORMERS_NEEDED = "5.0"
INSTALL_PROFILE = "pip install '.[profile]' in launchlens's folder"

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


def read_python(python: str, timeout_s: float = 120.0) -> Python:
    """Asks an interpreter which packages it has; never raises for what it answers."""
    said = read_output([python, "-c", _PYTHON_FACTS], timeout_s=timeout_s)
    for line in said.text.splitlines():
        if line.startswith("FACTS"):
            return Python(json.loads(line.removeprefix("FACTS")))
    return Python({}, f"{python} could not tell its packages: {said.last_line}")


def check_torch(python: Python, gpus: tuple[Gpu, ...] | None) -> Check:
    """Whether torch is there, new enough, and able to use the GPU."""
    name, version, cuda = "torch and CUDA", python.version("torch"), python.version("cuda")
    if version is None:
        detail = python.error or python.version("torch_error") or "torch is not installed"
        return Check(name, "fail", detail, f"{INSTALL_PROFILE}.")
    detail = f"torch {version}, built for {f'CUDA {cuda}' if cuda else 'the CPU only'}"
    if _older(version, TORCH_NEEDED):
        return Check(name, "fail", detail, f"torch {TORCH_NEEDED} is needed: {INSTALL_PROFILE}.")
    if gpus is None:
        return Check(name, "warn", f"{detail}; no GPU to run on", "See GPU and driver.")
    if not python.facts.get("available"):
        detail += f"; it cannot use the GPU (driver {gpus[0].driver})"
        remedy = "Install a torch built for a CUDA version that the driver supports."
        return Check(name, "fail", detail, remedy)
    return Check(name, "ok", f"{detail}; it can use the GPU")


def check_transformers(python: Python) -> Check:
    """Whether transformers is there and new enough."""
    name, version = "transformers", python.version("transformers")
    if version is None:
        return Check(
            name, "fail", python.error or f"{name} is not installed", f"{INSTALL_PROFILE}."
        )
    if _older(version, TRANSFORMERS_NEEDED):
        remedy = f"transformers {TRANSFORMERS_NEEDED} is needed: {INSTALL_PROFILE}."
        return Check(name, "fail", f"transformers {version}", remedy)
    return Check(name, "ok", f"transformers {version}")


def check_breakable(python: Python) -> Check:
    """Whether the package behind --variant breakable is there."""
    name, version = "breakable-cuda-graphs", python.version("breakable-cuda-graphs")
    if version is None:
        remedy = "Needed for --variant breakable only: pip install breakable-cuda-graphs."
        return Check(name, "warn", python.error or f"{name} is not installed", remedy)
    return Check(name, "ok", f"{name} {version}")


def _older(version: str, needed: str) -> bool:
    """Whether a version is older; unreadable ones are not.

    Release numbers alone are compared: "2.7.0a0+git" of NVIDIA's containers has what 2.7 has.
    """
    from packaging.version import InvalidVersion, Version

    try:
        return Version(Version(version).base_version) < Version(needed)
    except InvalidVersion:
        return False
