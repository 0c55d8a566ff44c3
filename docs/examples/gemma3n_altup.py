"""Gemma 3n, first fix: AltUp's epsilon is a number, not a tensor moved to the GPU six times.

usage: launchlens blockers --model gemma-3n-E4B-it --patch docs/examples/gemma3n_altup.py
The change is the one transformers released in 5.23, made to the installed source in memory.
"""

import inspect

from transformers.models.gemma3n import modeling_gemma3n

ALTUP = (
    "torch.sqrt(torch.maximum(new_magnitude, epsilon_tensor.to(target_magnitude.device)))",
    "torch.sqrt(torch.clamp(new_magnitude, min=1e-5))",
)


def rewrite(*changes: tuple[str, str]) -> None:
    """Replace lines of the model's source, keeping line numbers, and load the result."""
    source = inspect.getsource(modeling_gemma3n)
    for old, new in changes:
        if old not in source:
            raise RuntimeError(f"this transformers no longer has the line: {old}")
        source = source.replace(old, new)
    exec(compile(source, modeling_gemma3n.__file__, "exec"), modeling_gemma3n.__dict__)


if __name__ != "gemma3n_altup":
    rewrite(ALTUP)
