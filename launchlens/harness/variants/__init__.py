"""The ways a step can be run; one file each, in one table, plus the user's own."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from launchlens.errors import HarnessError
from launchlens.harness.variants.base import Context, Prepared, Variant
from launchlens.harness.variants.breakable import Breakable
from launchlens.harness.variants.compiled import Compiled
from launchlens.harness.variants.cudagraph import CudaGraph
from launchlens.harness.variants.eager import Eager
from launchlens.harness.variants.piecewise import Piecewise
from launchlens.harness.variants.plugin import Plugin

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BUILT_IN", "Context", "Prepared", "Variant", "find_variant"]

BUILT_IN: dict[str, Callable[[], Variant]] = {
    "eager": Eager,
    "cudagraph": CudaGraph,
    "breakable": Breakable,
    "piecewise": Piecewise,
    "compile": lambda: Compiled("compile", backend="inductor"),
    "compile-cudagraph": lambda: Compiled(
        "compile-cudagraph", backend="inductor", mode="reduce-overhead", graphs=True
    ),
    "compile-cudagraphs-backend": lambda: Compiled(
        "compile-cudagraphs-backend", backend="cudagraphs", graphs=True
    ),
}


def find_variant(name: str) -> Variant:
    """Finds a built-in variant, or loads the user's ``module:function``.

    The working folder is searched for the module. The function has the signature of
    :meth:`Variant.prepare` without self: ``prepare(model, inputs, context)`` returns a callable
    without arguments that runs one step and returns its logits.

    Raises:
        HarnessError: no such variant, module or function.
    """
    if name in BUILT_IN:
        return BUILT_IN[name]()
    module_name, separator, function_name = name.partition(":")
    if not separator or not module_name or not function_name:
        raise HarnessError(
            f"Variant {name!r} is unknown.",
            hint=f"Use {', '.join(BUILT_IN)}, or your own as module:function.",
        )
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        raise HarnessError(
            f"The variant's module {module_name!r} cannot be imported: "
            f"{type(error).__name__}: {error}."
        ) from error
    function = getattr(module, function_name, None)
    if not callable(function):
        raise HarnessError(f"The module {module_name!r} has no function {function_name!r}.")
    return Plugin(name, function)
