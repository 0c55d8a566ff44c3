"""A source change that the user gives as a Python file."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from launchlens.errors import HarnessError
from launchlens.harness.failures import first_line


def load_patch(path: str) -> Callable[[Any], Any] | None:
    """Executes a patch file and returns what its ``patch(model)`` does, if it defines one.

    Raises:
        HarnessError: the file is missing or raises, or, on a call of what is returned, its
            ``patch`` does; the message holds the error's first line.
    """
    file = Path(path)
    if not file.is_file():
        raise HarnessError(f"The patch {path} does not exist.")
    sys.path.insert(0, str(file.resolve().parent))
    loader = importlib.util.spec_from_file_location("launchlens_patch", file)
    if loader is None or loader.loader is None:
        raise HarnessError(f"The patch {path} is not a Python file.")
    module = importlib.util.module_from_spec(loader)
    try:
        loader.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise HarnessError(f"The patch {path} failed: {first_line(error)}") from error
    found = getattr(module, "patch", None)
    if not callable(found):
        return None

    def apply(model: Any) -> Any:
        try:
            replaced = found(model)
        except Exception as error:
            raise HarnessError(f"patch(model) in {path} failed: {first_line(error)}") from error
        return model if replaced is None else replaced

    return apply
