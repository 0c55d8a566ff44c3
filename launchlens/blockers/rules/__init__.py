"""The rules: a file each, which has ``RULE``; nothing else knows it."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from launchlens.blockers.hits import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, by rank."""
    modules = (import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__))
    return tuple(sorted((m.RULE for m in modules), key=lambda rule: (rule.rank, rule.id)))
