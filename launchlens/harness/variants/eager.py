"""Variant ``eager``: the model's forward call, nothing else."""

from __future__ import annotations

from typing import Any

from launchlens.harness.variants.base import Context, Prepared, Variant, forward_call


class Eager(Variant):
    """Runs the forward call."""

    name = "eager"
    summary = "the plain forward call"
    order = 0
    default = True
    as_it_is = True
    prepares = False

    def prepare(self, model: Any, inputs: dict[str, Any], context: Context) -> Prepared:
        """Prepares nothing; see :class:`~launchlens.harness.variants.base.Variant`."""
        return Prepared(forward_call(model, inputs), "eager")


VARIANTS = (Eager(),)
