"""The rules: a file each, which has ``RULE``; nothing else knows it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from launchlens.blockers.hits import Rule


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, by rank."""
    modules = (import_module(f"{__name__}.{m.name}") for m in iter_modules(__path__))
    found = (replace(m.RULE, doc=m.__doc__ or "") for m in modules)
    return tuple(sorted(found, key=lambda rule: (rule.rank, rule.id)))
