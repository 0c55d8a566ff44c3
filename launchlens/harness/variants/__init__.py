"""The ways a step can be run: the files of this folder that have ``VARIANTS``, and the user's own.

What this room says of variants without running them needs no torch.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import cache
from pathlib import Path

from launchlens.errors import HarnessError
from launchlens.harness.variants.base import Variant
from launchlens.harness.variants.plugin import Plugin


@cache
def list_variants() -> tuple[Variant, ...]:
    """All variants of the program, in their order."""
    files = [
        importlib.import_module(f"{__name__}.{m.name}") for m in pkgutil.iter_modules(__path__)
    ]
    found = [variant for file in files for variant in getattr(file, "VARIANTS", ())]
    return tuple(sorted(found, key=lambda variant: (variant.order, variant.name)))


def default_names(*, gpu: bool) -> tuple[str, ...]:
    """What runs if no variant is named; without a GPU there is nothing to capture."""
    return tuple(v.name for v in list_variants() if v.default and (gpu or not v.needs_gpu))


def built_in(name: str | None) -> Variant | None:
    """The program's own variant of that name; None for a user's, which would have to be loaded."""
    return next((variant for variant in list_variants() if variant.name == name), None)


@cache
def as_it_is() -> Variant:
    """The variant that runs a step as it is."""
    return next(variant for variant in list_variants() if variant.as_it_is)


@cache
def one_graph() -> Variant:
    """The variant whose step is one CUDA graph."""
    return next(variant for variant in list_variants() if variant.one_graph)


def unknown_variant_hint() -> str:
    """What can be asked for instead of a variant that does not exist."""
    names = ", ".join(variant.name for variant in list_variants())
    return f"Use {names}, or your own as module:function."


def find_variant(name: str) -> Variant:
    """Finds a built-in variant, or loads the user's ``module:function``.

    The working folder is searched for the module. The function has the signature of
    :meth:`Variant.prepare` without self: ``prepare(model, inputs, context)`` returns a callable
    without arguments that runs one step and returns its logits.

    Raises:
        HarnessError: no such variant, module or function.
    """
    if (variant := built_in(name)) is not None:
        return variant
    module_name, separator, function_name = name.partition(":")
    if not separator or not module_name or not function_name:
        raise HarnessError(f"Variant {name!r} is unknown.", hint=unknown_variant_hint())
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
