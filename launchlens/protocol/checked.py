"""How strictly the protocol's records are checked."""

from __future__ import annotations

from pydantic import ConfigDict, ValidationError

STRICT = ConfigDict(strict=True, extra="forbid", populate_by_name=True)
"""No value is converted, and no unknown key is passed over."""


def first_problem(error: ValidationError) -> str:
    """The first thing that is wrong, with the key it is about, for a sentence."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else problem["msg"]
