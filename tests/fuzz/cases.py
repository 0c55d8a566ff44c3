"""The cases: each is made from its seed alone, so that a number brings it back."""

import contextlib
import io
import lzma
import random
import sys
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import mutations
import texts
from demands import (
    strict_json,
    wrong_of_analysis,
    wrong_of_comparison,
    wrong_of_ending,
    wrong_of_steps_after,
)

ROOT = Path(__file__).parents[2]
WHOLE = (
    "tests/faults/data/*.sqlite.xz",
    "traces/qwen3-0.6b-cudagraph.graph.*.sqlite.xz",
    "traces/gemma-3n-cudagraph.default-mode.*.sqlite.xz",
    "traces/profile-qwen3-0.6b-breakable.graph.*.sqlite.xz",
    "tests/blockers/recorded/item_loop.stacks.sqlite.xz",
)
CUT = (
    "traces/qwen3-0.6b-eager.nsys2025.3.sqlite.xz",
    "traces/qwen3-0.6b-cudagraph.node.nsys2025.3.sqlite.xz",
    "traces/nvtx-domain-ranges.nsys2025.3.sqlite.xz",
    "traces/trtllm-range-names.nsys2025.3.sqlite.xz",
)
LARGEST = 1_000_000


@dataclass
class Outcome:
    """What a case did: the commands it ran, and what is wrong with what came of them."""

    commands: list[list[str]] = field(default_factory=list)
    answered: int = 0
    """Commands that ended with figures (0 or 3)."""
    wrong: list[str] = field(default_factory=list)


class Room:
    """A folder of inputs, and launchlens run within this process."""

    def __init__(self, folder):
        self.folder = folder
        self.inputs = sorted((folder / "inputs").glob("*.sqlite"))
        self.reports = sorted((folder / "inputs").glob("*.json"))
        self.validators = {}

    def call(self, outcome, *arguments):
        """Run a command; gives its standard output if it answered, else None."""
        from launchlens.cli.main import main

        arguments = [str(a) for a in arguments]
        outcome.commands.append(arguments)
        out, error = (io.TextIOWrapper(io.BytesIO(), "utf-8", "strict", "") for _ in range(2))
        code, before = 0, sys.argv
        with (
            warnings.catch_warnings(record=True) as warned,
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(error),
        ):
            warnings.simplefilter("always")
            sys.argv = ["launchlens", *arguments]
            try:
                main()
            except SystemExit as ended:
                code = 0 if ended.code is None else ended.code
            except BaseException:
                code = None
                outcome.wrong.append(traceback.format_exc(limit=-6))
            finally:
                sys.argv = before
        said = [_read(stream) for stream in (out, error)]
        told = [str(w.message) for w in warned if "multi-threaded" not in str(w.message)]
        if code is not None:
            outcome.wrong += wrong_of_ending(code, said[1], told)
        if code not in (0, 3):
            return None
        outcome.answered += 1
        return said[0]

    def answer(self, outcome, kind, *arguments):
        """The JSON document of a command, held against its schema and what may be in it."""
        said = self.call(outcome, *arguments, "--format", "json")
        if said is None:
            return None
        try:
            data = strict_json(said)
        except ValueError as error:
            outcome.wrong.append(f"no JSON: {error}")
            return None
        errors = list(self._validator(kind).iter_errors(data))
        outcome.wrong += [f"schema: {e.json_path}: {e.message[:200]}" for e in errors[:3]]
        if not errors:
            check = {"analysis": wrong_of_analysis, "comparison": wrong_of_comparison}.get(kind)
            outcome.wrong += check(data) if check else []
        return data

    def _validator(self, kind):
        if kind not in self.validators:
            import jsonschema

            schema = strict_json(self.call(Outcome(), "schema", kind))
            self.validators[kind] = jsonschema.Draft202012Validator(schema)
        return self.validators[kind]


def _read(stream):
    stream.flush()
    return stream.buffer.getvalue().decode("utf-8", "replace")


def prepare(folder):
    """Unpack and cut what cases start from, once for all of them."""
    inputs = folder / "inputs"
    inputs.mkdir(parents=True)
    for path in sorted(p for pattern in WHOLE for p in ROOT.glob(pattern)):
        data = lzma.decompress(path.read_bytes())
        if len(data) <= LARGEST:
            (inputs / f"{path.name.split('.sqlite')[0]}.sqlite").write_bytes(data)
    room, done = Room(folder), Outcome()
    for path in CUT:
        out = inputs / f"cut-{Path(path).name.split('.sqlite')[0]}.sqlite"
        room.call(done, "scrub", ROOT / path, out, "--steps", "0-1")
    room = Room(folder)
    eager = next(p for p in room.inputs if "eager" in p.name)
    graph = next(p for p in room.inputs if "cudagraph.node" in p.name)
    for name, arguments in (
        ("comparison", ("diff", eager, graph)),
        ("analysis", ("analyze", eager)),
        ("blockers", ("blockers", eager)),
    ):
        said = room.call(done, *arguments, "--format", "json")
        (inputs / f"{name}.json").write_text(said, encoding="utf-8")
    assert done.wrong == [], done.wrong


def run_case(folder, kind, seed):
    """One case in a folder that `prepare` filled."""
    rng = random.Random(f"{kind} {seed}")
    outcome = Outcome()
    room = Room(folder)
    with contextlib.ExitStack() as stack:
        import tempfile

        place = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        KINDS[kind][0](rng, room, place, outcome)
    return outcome


def spoiled_by_sql(rng, room, place, outcome):
    """An export changed by SQL."""
    trace = place / "trace.sqlite"
    trace.write_bytes(rng.choice(room.inputs).read_bytes())
    mutations.spoil_by_sql(rng, trace, rng.choice((1, 1, 2, 3, 6)))
    _read_somehow(rng, room, place, trace, outcome)


def spoiled_bytes(rng, room, place, outcome):
    """An export, plain or packed, with damaged bytes."""
    source = rng.choice(room.inputs)
    data, end = source.read_bytes(), ""
    if rng.random() < 0.2:
        data, end = mutations.packed(rng, data)
    else:
        data = mutations.spoil_bytes(rng, data)
    trace = place / f"trace.sqlite{end}"
    trace.write_bytes(data)
    if rng.random() < 0.3:
        _lost_in_silence(outcome, source, trace)
        return
    _read_somehow(rng, room, place, trace, outcome)


def _lost_in_silence(outcome, source, trace):
    """Rows that damage took away, of which the trace that is read says nothing."""
    from launchlens.errors import LaunchlensError
    from launchlens.trace import read_trace

    outcome.commands.append(["(the rows of a damaged trace)", source.name])
    before = read_trace(source)
    try:
        after = read_trace(trace)
    except LaunchlensError:
        return
    outcome.answered += 1
    rows = [
        (t.api.start_ns.size, t.ops.start_ns.size + t.untimed.start_ns.size, t.ranges.start_ns.size)
        for t in (before, after)
    ]
    if (
        any(b < a for a, b in zip(*rows, strict=True))
        and after.info.warnings == before.info.warnings
    ):
        outcome.wrong.append(f"rows lost in silence: {rows[0]} became {rows[1]}")


def _read_somehow(rng, room, place, trace, outcome):
    other = rng.choice(room.inputs)
    way = rng.randrange(12)
    if way <= 3:
        chosen = (
            *((), ("--whole",), ("--skip", "1"), ("--phase", "decode")),
            *(("--step", rng.choice(("prefill", ".", "x*", "(?P<phase>decode|prefill)", "("))),),
        )
        room.answer(outcome, "analysis", "analyze", trace, *rng.choice(chosen))
    elif way == 4:
        shape = rng.choice(("terminal", "markdown", "html", "csv"))
        room.call(outcome, "analyze", trace, "--verbose", "--format", shape)
    elif way <= 6:
        sides = rng.sample((trace, other), 2)
        room.answer(outcome, "comparison", "diff", *sides)
    elif way == 7:
        room.answer(outcome, "blockers", "blockers", trace)
    elif way == 8:
        out = place / rng.choice(("out.json", "out.parquet"))
        flag = "--perfetto" if out.suffix == ".json" else "--parquet"
        room.call(outcome, "export", trace, flag, out)
        if flag == "--perfetto" and out.exists():
            strict_json(out.read_text(encoding="utf-8"))
    elif way == 9:
        room.call(outcome, "diff", other, trace, "--format", "markdown", "--fail-on", "idle>+2pp")
    else:
        out = place / "out.sqlite"
        cut = () if way == 10 else ("--steps", rng.choice(("0", "0-1", "1")))
        if room.call(outcome, "scrub", trace, out, *cut) is not None and not cut:
            before = room.answer(outcome, "analysis", "analyze", trace)
            after = room.answer(outcome, "analysis", "analyze", out)
            if before is not None and after is not None:
                outcome.wrong += wrong_of_steps_after(before, after)
            elif before is not None and not any("removed" in s["range"] for s in before["steps"]):
                outcome.wrong.append("scrub: the copy cannot be analysed any more")


def odd_threshold(rng, room, place, outcome):
    """A condition of --fail-on."""
    a, b = rng.sample(room.inputs, 2)
    conditions = [
        x for _ in range(rng.choice((1, 1, 3))) for x in ("--fail-on", texts.threshold(rng))
    ]
    if rng.random() < 0.5:
        room.answer(outcome, "analysis", "analyze", a, *conditions)
    else:
        room.answer(outcome, "comparison", "diff", a, b, *conditions)


def odd_budget(rng, room, place, outcome):
    """A budget file."""
    file = place / "budget.toml"
    file.write_bytes(texts.budget(rng).encode("utf-8", "surrogatepass"))
    room.answer(outcome, "limits", "check", file, rng.choice(room.inputs))


def odd_report(rng, room, place, outcome):
    """A report as JSON, given to comment."""
    file = place / "report.json"
    source = rng.choice(room.reports)
    if rng.random() < 0.7:
        source = next(p for p in room.reports if p.stem == "comparison")
    file.write_bytes(texts.report(rng, source.read_bytes()))
    conditions = ("--fail-on", texts.threshold(rng)) if rng.random() < 0.3 else ()
    arguments = ("--repo", "a/b", "--pr", "1", "--dry-run", *conditions)
    room.call(outcome, "comment", file, *arguments)


def random_valid(rng, room, place, outcome):
    """A random valid trace: every figure of it is that of a plain reference."""
    from random_traces import agree

    for _ in range(5):
        outcome.commands.append(["(a random trace beside the reference)"])
        try:
            agree(rng)
        except Exception:
            outcome.wrong.append(traceback.format_exc(limit=-3))
        else:
            outcome.answered += 1


KINDS = {
    "sql": (spoiled_by_sql, 45),
    "bytes": (spoiled_bytes, 20),
    "threshold": (odd_threshold, 8),
    "budget": (odd_budget, 10),
    "report": (odd_report, 12),
    "valid": (random_valid, 5),
}
"""Kinds of cases, with how many of a hundred are of each."""
