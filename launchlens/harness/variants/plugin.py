"""A user's own variant: a function named ``module:function`` on the command line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from launchlens.errors import HarnessError
from launchlens.harness.variants.base import Context, Prepared, Variant


class Plugin(Variant):
    """Calls the user's function where a built-in variant prepares.

    The function gets the model, its keyword arguments and a Context, and returns a callable
    without arguments that runs a step and returns the logits (or a Prepared).
    """

    captures = None
    prepares = None
    compiles = True

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self._function = function

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Calls the function; see :class:`~launchlens.harness.variants.base.Variant`."""
        step = self._function(model, inputs, context)
        if isinstance(step, Prepared):
            return step
        if not callable(step):
            raise HarnessError(
                f"The variant {self.name} returned {type(step).__name__}, not a callable."
            )
        return Prepared(step, "custom")
