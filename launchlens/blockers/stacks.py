"""Call stacks of a trace and the calls they belong to.

Native frames are found by the call's chain id; Python frames, and operators where the recorder
names them, by the call's thread and start. Each may be missing for any call. Python frames name the
source line; native frames or operators alone still name the operator.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from launchlens.blockers.hits import Origin
from launchlens.blockers.view import Rows, View
from launchlens.calls import CallKind
from launchlens.records.stacks import ChainRow, PythonStack, Stacks

_MAX_FRAMES = 40
# Frames that say how a call came about, not where from: runtime, driver, tracing, interpreter.
_NATIVE_NOISE = re.compile(
    r"^(\[?0x|_?Py|_PyEval|PyObject|cuda[A-Z]|cu[A-Z]|cupti|InjectionTools|__libc|_start|main$)"
    r"|^(at::_ops::|c10::impl::|c10::Dispatcher|at::\(anonymous namespace\)::)|\[Unknown\]"
    r"|^torch::autograd::(VariableType::|autogradNotImplemented|basicAutogradNotImplemented)"
)
_NATIVE_MODULES = re.compile(r"libcuda\.so|libcudart|libcupti|libToolsInjection|/nsight-")
# Frames of torch and of Python's own library: how a line came to be run, not the model's line.
_FOLDED_FILE = re.compile(
    r"(^|/)(torch|torchgen|functorch)/|<frozen|<string>"
    r"|(^|/)python3\.\d+/(?!site-packages/|dist-packages/)"
)


@dataclass(frozen=True, slots=True)
class _Known:
    """Native frames by chain id, Python's and operators by (thread, start of the call)."""

    native: dict[int, tuple[str, ...]]
    python: dict[tuple[int, int], PythonStack]


def place_calls(view: View, stacks: Stacks, rows: Sequence[Rows]) -> dict[int, Origin]:
    """Where calls come from by the trace's own stacks: an origin for each row that has one.

    A copy has no stack of its own in some recordings: it takes that of the synchronize that
    follows it.
    """
    native = _native(stacks.chains)
    known = _Known(native, {(s.thread_key, s.start_ns): s for s in stacks.python})
    origins: dict[int, Origin] = {}
    for some in rows:
        following = view.next_telling(some)
        for row, after in zip(some.tolist(), following.tolist(), strict=True):
            waits = after >= 0 and view.kind[after] == CallKind.SYNC
            origin = _origin(view, known, row) or (_origin(view, known, after) if waits else None)
            if origin is not None:
                origins[row] = origin
    return origins


def _origin(view: View, known: _Known, row: int) -> Origin | None:
    api = view.trace.api
    tid = view.trace.threads[int(api.thread[row])].key
    stack_of = known.python.get((tid, int(api.start_ns[row])))
    python = stack_of.frames if stack_of else ()
    native = known.native.get(int(api.callchain_id[row]), ())
    native = native or (stack_of.operators if stack_of else ())
    if not python and not native:
        return None
    unfolded = [f for f in python if not _FOLDED_FILE.search(f.file)]
    # The program's lines, then the operator that they came to.
    stack = (*(f"{f.source} {f.function}".strip() for f in unfolded), *native)
    own = unfolded[0] if unfolded else None
    if own is None or own.line is None:
        return Origin(None, None, None, stack)
    return Origin(PurePath(own.file).name, own.line, own.function, stack)


def _native(chains: Sequence[ChainRow]) -> dict[int, tuple[str, ...]]:
    """Frames that name an operator, innermost first; a repeated name once."""
    by_chain: dict[int, list[ChainRow]] = defaultdict(list)
    for row in chains:
        by_chain[row.chain_id].append(row)
    named: dict[int, tuple[str, ...]] = {}
    for chain, members in by_chain.items():
        members.sort(key=lambda r: r.depth)
        kept = (
            short_symbol(r.symbol)
            for r in members
            if not _NATIVE_NOISE.search(r.symbol) and not _NATIVE_MODULES.search(r.module or "")
        )
        named[chain] = tuple(dict.fromkeys(kept))[:_MAX_FRAMES]
    return named


def short_symbol(symbol: str) -> str:
    """A native symbol without its parameters: ``at::native::is_nonzero``."""
    depth, end = 0, len(symbol)
    for i, letter in enumerate(symbol):
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth -= 1
        elif letter == "(" and depth <= 0 and not symbol.startswith("(anonymous namespace)", i):
            end = i
            break
    return symbol[:end].strip()
