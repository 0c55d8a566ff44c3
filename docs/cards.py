"""The generated part of a trace's card: facts, figures, and SQL that confirms the figures.

The SQL is written from docs/definitions.md alone and shares no code with launchlens, so that a
card shows two independent answers beside each other; tests/test_cards.py compares them.
"""

from __future__ import annotations

import hashlib
import lzma
import shutil
import sqlite3
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chrome_tables

if TYPE_CHECKING:
    from launchlens.records.figures import TraceInfo

ROOT = Path(__file__).parents[1]
TRACES = ROOT / "traces"
EXPORT, CHROME = ".sqlite.xz", ".json.gz"
OPERATIONS = {
    "CUPTI_ACTIVITY_KIND_KERNEL": "kernel",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "memcpy",
    "CUPTI_ACTIVITY_KIND_MEMSET": "memset",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "span",
}
# Whole spans hide their kernels: those beside them are not all of the step's.
_KERNELS = "CASE WHEN graph_spans = 0 THEN kernels END AS kernels"
COUNTS = ("launches", "graph_launches", "sync_calls", "kernels", "graph_spans")
TIMES = ("window_ns", "busy_ns", "idle")

HOST = """\
WITH
step AS (  -- the ranges that mark a forward pass
  SELECT NVTX_EVENTS.rowid AS step, start, end, globalTid AS thread
  FROM NVTX_EVENTS LEFT JOIN StringIds ON StringIds.id = textId
  WHERE eventType IN (59, 60) AND coalesce(text, value) GLOB '{glob}'),
call AS (  -- the API calls that start inside one, on its thread
  SELECT step, value AS name, correlationId, globalTid & -16777216 AS process
  FROM step JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS api
    ON globalTid = thread AND api.start BETWEEN step.start AND step.end
  JOIN StringIds ON StringIds.id = nameId),
host AS (
  SELECT step,
    sum(name GLOB 'cu*LaunchKernel*' OR name GLOB 'cu*GraphLaunch*') AS launches,
    sum(name GLOB 'cu*GraphLaunch*') AS graph_launches,
    sum(name GLOB 'cu*Synchronize*') AS sync_calls
  FROM call GROUP BY step)"""

DEVICE = """,
operation AS (
  {operations}),
own AS (  -- the work that these calls submitted
  SELECT step, max(operation.end) AS last,
    sum(kind = 'kernel') AS kernels, sum(kind = 'span') AS graph_spans
  FROM call JOIN operation USING (process, correlationId) GROUP BY step),
window AS (
  SELECT step, start, max(end, last) AS end FROM step JOIN own USING (step)),
piece AS (  -- all work on the device, clipped to the window
  SELECT step, max(operation.start, window.start) AS a, min(operation.end, window.end) AS b
  FROM window JOIN operation ON operation.start < window.end AND operation.end > window.start),
reached AS (  -- how far earlier pieces reach: a union, not a sum
  SELECT step, a, b, max(b) OVER (PARTITION BY step ORDER BY a, b
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM piece),
busy AS (
  SELECT step, sum(max(0, b - max(a, coalesce(before, a)))) AS busy_ns
  FROM reached GROUP BY step)
SELECT launches, graph_launches, sync_calls, {kernels}, graph_spans,
  end - start AS window_ns, busy_ns, 1 - 1.0 * busy_ns / (end - start) AS idle
FROM window JOIN host USING (step) JOIN own USING (step) JOIN busy USING (step)
ORDER BY start"""

NO_DEVICE = """
SELECT launches, graph_launches, sync_calls, NULL AS kernels, 0 AS graph_spans,
  NULL AS window_ns, NULL AS busy_ns, NULL AS idle
FROM step JOIN host USING (step) ORDER BY start"""


def card(name: str, steps: str, phase: str = "prefill") -> None:
    """Write the generated part of a card.

    Args:
        name: file name of the trace without ``.sqlite.xz`` or ``.json.gz``.
        steps: SQL GLOB pattern of the ranges that are its steps of that phase.
        phase: phase of these steps.
    """
    import cog

    (packed,) = (one for one in all_traces() if card_of(one).stem == name)
    cog.outl(card_text(packed, steps, phase))


def all_traces() -> list[Path]:
    """The shipped traces, by name."""
    return sorted(path for path in TRACES.iterdir() if path.name.endswith((EXPORT, CHROME)))


def listing() -> None:
    """Write the list of all traces, each with its card's title."""
    import cog

    cog.outl("| trace | what it is |\n| --- | --- |")
    for packed in all_traces():
        page = card_of(packed)
        title = page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        cog.outl(f"| [{page.stem}]({page.name}) | {title} |")


def card_of(packed: Path) -> Path:
    """The card of a trace."""
    return packed.with_name(packed.name.removesuffix(EXPORT).removesuffix(CHROME) + ".md")


def card_text(packed: Path, steps: str, phase: str) -> str:
    """Facts, figures and SQL of one trace as Markdown."""
    from launchlens.metrics import summarize
    from launchlens.trace import read_trace

    with tempfile.TemporaryDirectory() as folder:
        plain = unpack(packed, Path(folder))
        rows, sql = confirm(plain, steps)
        tables = _row_counts(plain)
        analysis = summarize(read_trace(packed), phase=phase)  # type: ignore[arg-type]
    info = analysis.trace
    group = analysis.summary[0]
    lines = ["| recorded with | |", "| --- | --- |"]
    facts = {
        "GPU, driver": f"{info.gpu or 'not told'}, {info.driver or 'not told'}",
        **_recorder(packed, info),
        "graph tracing": f"set to {info.graph_tracing}; seen in the steps: {group.graph_tracing}",
        "steps": f"{group.steps} × {group.phase}, named by {group.engine}",
        "rows": ", ".join(f"{n:,} {what}" for what, n in tables.items()),
        "file": f"{packed.stat().st_size:,} bytes, sha256 `{_digest(packed)}`",
    }
    lines += [f"| {what} | {value} |" for what, value in facts.items()]
    lines += ["", "Medians over the steps:", "", "| figure | launchlens | SQL below |"]
    lines += ["| --- | ---: | ---: |"]
    for figure in COUNTS + TIMES:
        stat = group.metrics[figure]
        lines.append(f"| `{figure}` | {_shown(stat.median)} | {_shown(_median(rows, figure))} |")
    if group.unknown_reason:
        lines += ["", f"Unknown, because {group.unknown_reason}"]
    lines += ["", "<details><summary>The SQL</summary>", "", "```sql", sql, "```", "", "</details>"]
    return "\n".join(lines)


def _recorder(packed: Path, info: TraceInfo) -> dict[str, str]:
    if packed.name.endswith(CHROME):
        return {"format, schema": f"{info.format}, {info.export_schema}"}
    return {"nsys, export schema": f"{info.nsys_version}, {info.export_schema}"}


def unpack(packed: Path, folder: Path) -> Path:
    """The plain export, in ``folder``; a torch.profiler file's events as such tables."""
    plain = folder / f"{card_of(packed).stem}.sqlite"
    if packed.name.endswith(CHROME):
        chrome_tables.write_tables(packed, plain)
        return plain
    with lzma.open(packed) as source, plain.open("wb") as target:
        shutil.copyfileobj(source, target)
    return plain


def confirm(plain: Path, steps: str) -> tuple[list[dict[str, Any]], str]:
    """Figures of every step by SQL alone, and that SQL."""
    db = sqlite3.connect(f"file:{plain}?mode=ro&immutable=1", uri=True)
    db.row_factory = sqlite3.Row
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    operations = [
        f"SELECT '{kind}' AS kind, start, end, correlationId, globalPid AS process\n  FROM {table}"
        for table, kind in OPERATIONS.items()
        if table in there
    ]
    sql = HOST.format(glob=steps)
    if operations:
        has_kernels = "CUPTI_ACTIVITY_KIND_KERNEL" in there
        sql += DEVICE.format(
            operations="\n  UNION ALL ".join(operations),
            kernels=_KERNELS if has_kernels else "NULL AS kernels",
        )
    else:
        sql += NO_DEVICE
    rows = [dict(row) for row in db.execute(sql)]
    db.close()
    return rows, sql


def _row_counts(plain: Path) -> dict[str, int]:
    names = {"CUPTI_ACTIVITY_KIND_RUNTIME": "API calls", "NVTX_EVENTS": "NVTX events"}
    names |= {
        table: f"{kind}s".replace("spans", "graph spans") for table, kind in OPERATIONS.items()
    }
    db = sqlite3.connect(f"file:{plain}?mode=ro&immutable=1", uri=True)
    there = {row[0] for row in db.execute("SELECT name FROM sqlite_master")}
    counts = {
        what: db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        for table, what in names.items()
        if table in there
    }
    db.close()
    return counts


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _median(rows: list[dict[str, Any]], figure: str) -> float | int | None:
    values = [row[figure] for row in rows]
    if None in values:
        return None
    median = statistics.median(values)
    return median if figure == "idle" else round(median)


def _shown(value: float | int | None) -> str:
    if value is None:
        return "unknown"
    return (
        f"{value:.4f}" if isinstance(value, float) and not value.is_integer() else f"{value:,.0f}"
    )


NEW = """# {title}

WHAT WAS RUN: model, variant, batch, tokens, dtype, weights; versions of PyTorch and
transformers; untraced time of a step.

```sh
THE RECORDING COMMAND
```

Redacted: WHAT WAS REMOVED.

<!-- [[[cog import cards; cards.card("{name}", "{steps}") ]]] -->
<!-- [[[end]]] -->
"""


def main() -> None:
    """Start a card for a new trace: ``python docs/cards.py traces/NEW.sqlite.xz 'prefill*'``."""
    packed, steps = Path(sys.argv[1]), sys.argv[2]
    page = card_of(packed)
    name = page.stem
    if page.exists():
        raise SystemExit(f"{page} exists already")
    page.write_text(NEW.format(title=name, name=name, steps=steps), encoding="utf-8")
    print(f"wrote {page}: fill in the words in capitals, then run make docs")


if __name__ == "__main__":
    main()
