"""What the child answers: the result JSON.

Result JSON, schema ``launchlens.harness/1``; unknown is ``null``, times are nanoseconds:

``schema``, ``status`` ("ok", "failed": the variant could not be captured, "error": nothing
could be measured), ``mode``, ``variant``, ``spec`` (the spec as run), ``notes`` (sentences a
report must show), ``environment`` (torch, transformers, cuda, gpu, gpu_memory_bytes, python,
driver), ``model`` (name, class, parameters, parameter_bytes, config_digest, dtype, layers,
layers_note, text_only, source, weights), and by mode:

* time, trace: ``captured`` (phase -> what the variant did there: "eager", "captured",
  "compiled", "custom" or "left eager: why"), ``prepare_ns`` (phase -> wall time of preparing
  the variant, with its warm-up, capture and compilation), ``graph_memory_bytes`` (growth of
  reserved GPU memory while preparing), ``peak_memory_bytes``, ``compile`` (graphs, graph
  breaks), ``decode_failure`` (as ``failure``: why the decode step was left eager), ``pieces``
  (graph and eager pieces of one step, where the variant has several).
* time: ``steps`` (phase -> ``samples_ns``, ``median_ns``), ``requests`` (one object for each
  concurrency), ``outputs`` (``path``, and for each dtype ``finite``).
* trace: ``steps`` (phase -> ``count``).
* dispatch: ``accelerator``, ``events`` (see :mod:`launchlens.harness.dispatch`).
* attempt: ``attempt`` (see :mod:`launchlens.harness.attempt`).

A failed variant has ``failure``: ``error_type``, ``error_line``, ``source`` ("file.py:12"),
``path``, ``line``, ``function``, ``stack``, ``hint``, ``traceback``, ``phase``. An error has
``error``: ``type``, ``message``, ``hint``, ``traceback`` (null unless it looks like a bug).
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from launchlens.errors import HarnessError

if TYPE_CHECKING:
    from pathlib import Path

RESULT_SCHEMA = "launchlens.harness/1"


def write_result(path: Path, result: dict[str, Any]) -> None:
    """Writes the result so that a reader sees all of it or nothing.

    Args:
        path: the result file; its folder must exist.
        result: the object described in this module's docstring.

    Raises:
        HarnessError: the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(result, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        temporary.replace(path)
    except OSError as error:
        raise HarnessError(f"Cannot write the result {path}: {error.strerror}.") from error
