"""NVTX ranges: steps and modules, in the domain "launchlens"."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from launchlens.protocol.spec import NVTX_DOMAIN

MODULE_PREFIX = "module:"


@cache
def open_domain() -> Any:
    """The NVTX domain "launchlens", also for a tool that cannot say whether it is on.

    Since nvtx 0.2.12 get_domain asks the tool whether the domain is on, and gives a dummy when
    the answer is no. nsys 2022.4 does not know the question, which counts as no, and nothing
    would be traced. Without any tool the domain's calls do nothing. There is one for the
    process, since each object numbers its categories anew.
    """
    import nvtx

    domain = nvtx.get_domain(NVTX_DOMAIN)
    if hasattr(domain, "handle"):
        return domain
    try:
        from nvtx._lib import lib

        real = object.__new__(lib.Domain)
        real.handle = lib.DomainHandle(NVTX_DOMAIN)
        real.__init__(NVTX_DOMAIN)
    except (AttributeError, ImportError, TypeError):
        return domain  # Another nvtx: its own answer stands.
    return real


class StepRanges:
    """Marks steps with ranges named exactly ``prefill`` or ``decode``.

    The payload is the index of the step within its phase; the names are registered strings
    in the category "step".
    """

    def __init__(self) -> None:
        self._domain = open_domain()
        self._category = self._domain.get_category_id("step")

    @contextmanager
    def step(self, phase: str, index: int) -> Iterator[None]:
        """A range around one step."""
        attributes = self._domain.get_event_attributes(
            message=phase, category=self._category, payload=index
        )
        self._domain.push_range(attributes)
        try:
            yield
        finally:
            self._domain.pop_range()


@contextmanager
def module_ranges(model: Any) -> Iterator[None]:
    """Marks every module's forward with a range ``module:<qualified.name>``."""
    domain = open_domain()
    category = domain.get_category_id("module")
    handles = []
    for name, module in model.named_modules():
        attributes = domain.get_event_attributes(
            message=f"{MODULE_PREFIX}{name or type(model).__name__}", category=category
        )

        def enter(*_: Any, attributes: Any = attributes) -> None:
            domain.push_range(attributes)

        def leave(*_: Any) -> None:
            domain.pop_range()

        handles.append(module.register_forward_pre_hook(enter))
        handles.append(module.register_forward_hook(leave, always_call=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
