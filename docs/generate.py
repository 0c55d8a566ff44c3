"""What cog writes into the documentation: help, output, tables of names, the list of pages.

Used as ``<!-- [[[cog import generate; generate.commands() ]]] -->`` in a page; ``make docs`` runs
it, ``make docs-check`` and tests/test_docs.py fail where a page is stale.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
WIDTH = 80


def out(text: str) -> None:
    """Hand text to cog, as a paragraph of its own."""
    import cog

    cog.outl(text.rstrip("\n"))


PROGRAM = "import sys; sys.argv[0] = 'launchlens'; from launchlens.cli.main import main; main()"


def run(*arguments: str) -> str:
    """Standard output of the program in a pipe 80 columns wide; it must succeed."""
    environment = {**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1", "PYTHONWARNINGS": ""}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"launchlens {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def shell(*arguments: str) -> str:
    """The arguments as one would type them."""
    return " ".join(
        ["launchlens", *(a if re.fullmatch(r"[\w./:=+-]+", a) else f"'{a}'" for a in arguments)]
    )


def example(*arguments: str, lines: int | None = None) -> None:
    """A command and what it prints, cut after ``lines``."""
    shown = run(*arguments).rstrip().splitlines()
    if lines is not None and len(shown) > lines:
        shown = [*shown[:lines], "…"]
    out("\n".join(["```text", f"$ {shell(*arguments)}", *shown, "```"]))


def markdown_example(*arguments: str) -> None:
    """A command, and the Markdown it prints as the page shows it."""
    out(run(*arguments))


# --- commands ---


def command_tree() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command of the program with its path, groups before what is in them."""
    from typer.main import get_command

    from launchlens.cli.main import app

    def walk(path: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
        yield path, command
        for name, child in sorted(getattr(command, "commands", {}).items()):
            if not child.hidden:
                yield from walk((*path, name), child)

    return walk((), get_command(app))


def commands() -> None:
    """The help of every command, as the program prints it."""
    for path, _ in command_tree():
        title = " ".join(("launchlens", *path))
        out(f"\n## `{title}`\n\n```text\n{run(*path, '--help').rstrip()}\n```")


def command_table() -> None:
    """Each command with the first sentence of its help."""
    rows = []
    for path, command in command_tree():
        if path and not getattr(command, "commands", None):
            said = re.sub(r"\s+", " ", inspect.cleandoc(command.help or ""))
            first = re.split(r"(?<=\.)\s", said)[0]
            rows.append((f"`launchlens {' '.join(path)}`", first))
    out(table(("command", "what it does"), rows))


def exit_codes() -> None:
    """Each exit code with the errors that end in it."""
    from launchlens import errors

    meaning = {
        "EXIT_OK": "the report was made, and no threshold failed",
        "EXIT_CANNOT_ANSWER": "the question cannot be answered; one sentence on standard error "
        "says why and what to do",
        "EXIT_USAGE": "the command line makes no sense: an unknown option, a bad value",
        "EXIT_THRESHOLD": "the report was made, and a threshold or budget failed, or cannot be "
        "known to hold",
    }
    kinds = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]
    rows = []
    for name, code in vars(errors).items():
        if name.startswith("EXIT_"):
            raised = ", ".join(f"`{k.__name__}`" for k in kinds if k.exit_code == code)
            rows.append((f"{code}", meaning[name], raised))
    rows.append(("130", "interrupted (Ctrl-C)", ""))
    out(table(("code", "meaning", "errors"), rows))


# --- figures ---


def metric_table() -> None:
    """Every metric of a comparison: name, title, unit, which way is better, what matters."""
    from launchlens.catalogue import metrics
    from launchlens.comparison.margins import SMALLEST_COUNT, SMALLEST_IDLE, SMALLEST_RELATIVE

    assert SMALLEST_COUNT < 1
    matters = {"count": "1", "fraction": f"{SMALLEST_IDLE * 100:g} percentage point"}
    better = {-1: "less", 1: "more", 0: "neither"}
    units = {"ns": "ns", "count": "–", "fraction": "0 to 1", "bytes": "bytes", "per_s": "1/s"}
    bounds = {None: "", "lower": "at least", "upper": "at most"}
    meanings = _definitions()
    rows = [
        (
            f"`{m.name}`",
            m.title,
            units[m.unit],
            better[m.direction],
            matters.get(m.unit, f"{SMALLEST_RELATIVE:.0%}")
            if m.direction and m.owner != "request"
            else "–",
            bounds[m.under_spans],
            meanings[m.name],
        )
        for m in metrics()
    ]
    matter = "smallest difference that matters"
    head = ("name", "in reports", "unit", "better", matter, "traced whole", "definition")
    out(table(head, rows))


def _definitions() -> dict[str, str]:
    """The docstrings of the catalogue's fields by metric."""
    from launchlens.catalogue import GAPS
    from launchlens.records.figures import Gaps, Step
    from launchlens.records.variant import RequestFigures, SideFigures, VariantFacts
    from launchlens.serialize import describe

    return {
        start + name: _meaning(shape)
        for record, start in (
            (Step, ""),
            (Gaps, f"{GAPS}."),
            (SideFigures, ""),
            (VariantFacts, ""),
            (RequestFigures, ""),
        )
        for name, shape in describe(record)["properties"].items()
    }


def bounds() -> None:
    """The thresholds that name a step's bound."""
    from launchlens.metrics.bound import DOMINANT_SHARE, GPU_BOUND_IDLE_BELOW

    share = f"{DOMINANT_SHARE:.0%}"
    rows = [
        ("`gpu-bound`", f"idle is below {GPU_BOUND_IDLE_BELOW:.0%} of the window"),
        ("`sync-bound`", f"at least {share} of the idle time is `sync`"),
        ("`launch-bound`", f"at least {share} of the idle time is `lead_in`, `host` or `launch`"),
        ("`mixed`", "none of these"),
    ]
    out(table(("bound", "when (the first that holds)"), rows))


def engines() -> None:
    """The ways engines name their steps, in the order in which they are tried."""
    from launchlens.metrics.engines import patterns

    rows = []
    for pattern in patterns():
        regex = pattern.regex.pattern.replace("|", "\\|")
        rows.append((pattern.engine, f"`{regex}`", pattern.domain or "any"))
    out(table(("steps named by", "range text (regular expression)", "NVTX domain"), rows))


def gap_classes() -> None:
    """The classes of the gap histogram."""
    from launchlens.metrics.breakdown import GAP_EDGES_NS

    edges = [f"{edge // 1000}" for edge in GAP_EDGES_NS]
    middle = [f"{a}–{b} µs" for a, b in pairwise(edges)]
    out(f"Classes: {', '.join([f'below {edges[0]} µs', *middle, f'{edges[-1]} µs and longer'])}.")


# --- JSON ---


def keys() -> None:
    """For each kind of JSON what it is, and a table for each record that no earlier kind has."""
    from launchlens.serialize import KINDS

    seen: set[str] = set()
    for kind in KINDS:
        records = _records(kind)
        out(f"\n### `{kind}`\n\n{_about(kind)}")
        for name, record in records.items():
            if name not in seen and "properties" in record:
                rows = [
                    (f"`{key}`", _shape(shape), _meaning(shape))
                    for key, shape in record["properties"].items()
                ]
                out(f"\n#### {name}\n\n{table(('key', 'type', 'meaning'), rows)}")
        seen |= records.keys()


def _about(kind: str) -> str:
    from launchlens.serialize import record_of

    first = inspect.cleandoc(record_of(kind).__doc__ or "").partition("\n\n")[0]
    return " ".join(first.split()).replace("``", "`")


def _records(kind: str) -> dict[str, Any]:
    from launchlens.serialize import schema

    described = schema(kind)
    own = {described["title"]: described} if "title" in described else {}  # else it is in $defs
    return {**own, **described.get("$defs", {})}


def _meaning(shape: dict[str, Any]) -> str:
    """A field's docstring in a table: on one line, without its full stop, pages linked."""
    said = " ".join(shape["description"].split()).removesuffix(".")
    return re.sub(r"\b([\w-]+\.md)\b", r"[\1](\1)", said)


def _shape(shape: dict[str, Any]) -> str:
    if "anyOf" in shape:
        return " or ".join(dict.fromkeys(_shape(part) for part in shape["anyOf"]))
    if "$ref" in shape:
        return shape["$ref"].rpartition("/")[2]
    if "const" in shape or "enum" in shape:
        return ", ".join(f"`{value}`" for value in shape.get("enum") or [shape["const"]])
    if shape.get("type") == "array":
        return f"list of {_shape(shape['items'])}" if "items" in shape else "list"
    if shape.get("type") == "object" and isinstance(shape.get("additionalProperties"), dict):
        return f"object of {_shape(shape['additionalProperties'])}"
    return str(shape.get("type", "any"))


def json_example(*arguments: str, keep: Sequence[str] = ()) -> None:
    """A JSON report, its lists cut to one item and its metrics to ``keep``."""

    def shorten(value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            chosen = [k for k in value if name != "metrics" or k in keep]
            return {k: shorten(value[k], k) for k in chosen}
        if isinstance(value, list):
            picked = [v for v in value if not keep or _metric(v) in (None, *keep)][:1]
            return [shorten(v) for v in picked]
        if isinstance(value, str) and len(value) > 60:
            return value[:57] + "…"
        return value

    report = shorten(json.loads(run(*arguments)))
    text = json.dumps(report, indent=1, ensure_ascii=False)
    out(f"```sh\n{shell(*arguments)}\n```\n\n```json\n{text}\n```")


def _metric(value: Any) -> str | None:
    return value.get("metric") if isinstance(value, dict) else None


# --- pages ---

USERS = (
    "commands",
    "profile",
    "forecast",
    "definitions",
    "blockers",
    "json",
    "python-api",
    "html",
    "runs",
    "ci",
    "traces",
    "security",
    "results-h200",
    "gemma-3n",
    "engines",
    "vllm",
    "changelog",
)
CONTRIBUTORS = ("architecture", "develop/contributing", "develop/html-page", "develop/benchmarks")


def pages(names: Sequence[str]) -> None:
    """Pages beside the index, each with its title and its first sentence."""
    out("\n".join(f"- [{_title(n)}]({n}.md): {_first_sentence(n)}" for n in names))


def _title(name: str) -> str:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    assert found, f"docs/{name}.md has no title"
    return found[1].replace("`", "")


def _first_sentence(name: str) -> str:
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    paragraph = next(
        block
        for block in text.partition("\n# ")[2].split("\n\n") + text.split("\n\n")
        if block.strip() and not re.match(r"\s*(#|```|\||!|-)", block)
    )
    sentence = re.split(r"(?<=[.:!?])\s", " ".join(paragraph.split()))[0].rstrip(":.")
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", sentence) + "."


def benchmark() -> None:
    """The last result of benchmarks/run.py."""
    result = json.loads((ROOT / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    about, trace = result["machine"], result["trace"]
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items() if v)
    out(
        f"Measured {result['date']} on {about['cores']} cores of {about['cpu']} "
        f"(load average {about['load_before']:.1f} when it began), Python {about['python']}, "
        f"{versions}; trace of {trace['kernels']:,} kernels and {trace['api_rows']:,} API rows, "
        f"{trace['bytes'] / 1e6:,.0f} MB.\n"
    )
    commands_measured = {"help": "launchlens --help", "analyze": "launchlens analyze GROWN.sqlite"}
    rows = [(f"`{commands_measured[n]}`", *_figures(f)) for n, f in result["commands"].items()]
    head = ("what", "median", "best", "runs", "peak memory")
    out(table(head, rows))
    readers = {
        "adbc-2": "ADBC, two read-only connections (used)",
        "adbc-1": "ADBC, one connection",
        "connectorx": "connectorx, two partitions",
        "sqlite3": "Python's sqlite3, row by row",
    }
    rows = [(readers[n], *_figures(f)) for n, f in result["readers"].items()]
    out(
        "\nReading the kernel and API tables alone (eight and five columns):\n\n"
        + table(head, rows)
    )


def benchmark_kineto() -> None:
    """The last result of benchmarks/kineto.py."""
    result = json.loads((ROOT / "benchmarks" / "kineto.json").read_text(encoding="utf-8"))
    about = result["machine"]
    versions = ", ".join(f"{k} {v}" for k, v in about["versions"].items() if v)
    out(
        f"Measured {result['date']} on {about['cores']} cores of {about['cpu']} "
        f"(load average {about['load_before']:.1f} when it began), Python {about['python']}, "
        f"{versions}."
    )
    for name in ("few", "many"):
        part = result[name]
        out(f"\n{part['events']:,} events, {part['bytes'] / 1e6:,.0f} MB:\n")
        rows = [
            (f"`{way}`", f["failed"], "–", "–")
            if "failed" in f
            else (
                f"`{way}`",
                f"{f['median_s']:.2f} s",
                f"{f['cpu_s']:.2f} s",
                f"{f['peak_bytes'] / 1e6:,.0f} MB",
            )
            for way, f in part["ways"].items()
        ]
        out(table(("way", "wall", "processor", "peak memory"), rows))
    analyze = result["analyze"]
    out(
        f"\n`launchlens analyze` of the latter: {analyze['median_s']:.1f} s, "
        f"{analyze['peak_bytes'] / 1e6:,.0f} MB."
    )


def _figures(figures: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{figures['median_s']:.2f} s",
        f"{figures['best_s']:.2f} s",
        f"{len(figures['samples_s'])}",
        f"{figures['peak_bytes'] / 1e6:,.0f} MB",
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
