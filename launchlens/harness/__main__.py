"""``python -m launchlens.harness SPEC.json``: runs one spec, writes one result.

Exit code 0: there is a result, also one that says "failed"; 1: there is none, the result
file (or standard error, when there is no place for one) says why.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from launchlens.errors import EXIT_CANNOT_ANSWER, EXIT_OK, EXIT_USAGE, HarnessError
from launchlens.protocol.result import write_result
from launchlens.protocol.spec import HarnessSpec


def main(arguments: list[str]) -> int:
    """Runs the spec in the file named by the only argument; returns the exit code."""
    if len(arguments) != 1:
        print("usage: python -m launchlens.harness SPEC.json", file=sys.stderr)
        return EXIT_USAGE
    try:
        text = Path(arguments[0]).read_text("utf-8")
    except OSError as error:
        print(f"Cannot read the spec {arguments[0]}: {error.strerror}.", file=sys.stderr)
        return EXIT_CANNOT_ANSWER
    try:
        spec = HarnessSpec.from_json(text)
        from launchlens.harness.program import run_spec

        result = run_spec(spec)
        write_result(Path(spec.result_path), result)
    except HarnessError as error:
        print(error, file=sys.stderr)
        return EXIT_CANNOT_ANSWER
    if result.error is not None:
        print(result.error.message, file=sys.stderr)
        return EXIT_CANNOT_ANSWER
    if result.failure is not None or spec.mode == "attempt":
        # A broken capture leaves objects behind whose destructors may abort the process;
        # the result is written, so leave without running them.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(EXIT_OK)
    return EXIT_OK


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
