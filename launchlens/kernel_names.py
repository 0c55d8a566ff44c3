"""Kernel names for people: short, and no two of a report alike; a leaf.

``void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float, at::native::MeanOps<
float, float, float, float>, unsigned int, float, (int)4, (int)4>>(T3)`` is ``reduce_kernel
(MeanOps)``: the function without namespaces and parameters, and the template argument that says
what it computes. Where several kernels of a report would be called so, the data type is added, then
the template arguments that tell them apart, and a number where nothing else does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

WIDEST = 64
"""Characters of a short name at most."""

_LEAST = 20  # characters that are kept of a function
_CAST = re.compile(r"\((?:unsigned )?(?:int|long|bool|char|short)\)(?=-?\d)")
_SPACE = re.compile(r"::\s*(?:<unnamed>|\(anonymous namespace\)|\(unnamed[^)]*\))|^<unnamed>::")
_TELLING = re.compile(
    r"(\w*Functor\w*|\w+_kernel_(?:cuda|impl)\b|\w+_cuda_out\b|\w+KernelImpl\b|\w+Ops\b"
    r"|\w+_kernel\b|launch_\w+)"
)
_AROUND = re.compile(r"(?:Binary|AUnary|BUnary|UnaryOp)Functor$")
"""Template arguments that wrap what is computed: said only where there is nothing better."""
_SAYS_NOTHING = re.compile(r"gpu_index_kernel$|_internal_kernel$")
_WRAPPER = re.compile(r"Kernel2?$|device_kernel$|kernel$|enable_sm\w+$")
"""Functions that only run what their first template argument is (CUTLASS, FlashAttention)."""
_MOST_ALIKE = 200
"""More names that share a short one are only numbered: to tell them apart would be felt."""
_SHORT_TYPES = {"BFloat16": "bf16", "bfloat16_t": "bf16", "__nv_bfloat16": "bf16", "Half": "fp16"}
_SHORT_TYPES |= {"half_t": "fp16", "__half": "fp16", "Float8_e4m3fn": "fp8"}
_TYPES = frozenset({*_SHORT_TYPES, "float", "double", "half", "bool", "int", "long", "short"})
_TOKEN = re.compile(r"[A-Za-z_]\w*(?!\w|\s*::)|(?<![\w.])-?\d+(?!\w)")
_NOISE = frozenset({"void", "const", "lambda", "instance", "operator", "unsigned", "unnamed"})


def short_names(names: Iterable[str]) -> dict[str, str]:
    """A short name for each full one, no two alike; the same for the same set of names."""
    full = sorted(set(names))
    taken: dict[str, list[str]] = {}
    for name in full:
        taken.setdefault(short_kernel(name), []).append(name)
    found: dict[str, str] = {}
    for short, alike in taken.items():
        found |= {alike[0]: short} if len(alike) == 1 else _told_apart(alike)
    return {name: found[name] for name in _numbered(full, found)}


@lru_cache(maxsize=4096)
def short_kernel(name: str) -> str:
    """A kernel's name for people, for itself alone.

    ``void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, …>``
    becomes ``vectorized_elementwise_kernel (CUDAFunctor_add)``.
    """
    function, telling, _ = _parts(name)
    return _written(function, [telling] if telling else [])


def _parts(name: str) -> tuple[str, str, str]:
    """The function's own name, what tells what it computes ("" for nothing), template arguments."""
    if name.startswith("["):  # [memcpy], [CUDA graph]: no function
        return name, "", ""
    text = _SPACE.sub("", " ".join(name.split()))
    text = text[: _opening(text, "()")] if text.endswith((")", ") const")) else text
    head, inside = text, ""
    if text.endswith(">"):
        at = _opening(text, "<>")
        head, inside = text[:at], text[at + 1 : -1]
    function = re.split(r"::|\s", head.strip())[-1] or head.strip() or name
    if inside and _WRAPPER.match(function):
        # What it runs is a template too, or a plain name.
        inner, telling, rest = _parts(_first_argument(inside))
        return inner, telling, rest
    found = [
        word
        for word in _TELLING.findall(inside)
        if word != function and not _SAYS_NOTHING.search(word)
    ]
    telling = next((word for word in found if not _AROUND.search(word)), "")
    return function, telling or next(iter(found), ""), inside


def _opening(text: str, pair: str) -> int:
    """Where the bracket opens that the last one of its kind closes; the end where none does."""
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        if text[at] == pair[1] and text[at - 1 : at] != "-":
            depth += 1
        elif text[at] == pair[0]:
            depth -= 1
            if depth == 0:
                return at
    return len(text)


def _first_argument(inside: str) -> str:
    depth = 0
    for at, letter in enumerate(inside):
        depth += (letter in "<([") - (letter in ">)]")
        if letter == "," and depth == 0:
            return inside[:at]
    return inside


def _told_apart(alike: Sequence[str]) -> dict[str, str]:
    """Names that share their short name, with the words that tell each from the others."""
    if len(alike) > _MOST_ALIKE:
        return dict.fromkeys(alike, short_kernel(alike[0]))
    words = {name: _words(name) for name in alike}
    types = {name: next((w for w in words[name] if w in _TYPES), "") for name in alike}
    by_type = len(set(types.values())) > 1
    found = {}
    for name in alike:
        function, telling, _ = _parts(name)
        said = [telling] if telling else []
        others = [other for other in alike if other != name]
        if by_type and types[name]:
            said.append(_SHORT_TYPES.get(types[name], types[name]))
            others = [other for other in others if types[other] == types[name]]
        unsaid = [w for w in dict.fromkeys(words[name]) if w not in (*said, types[name])]
        while others and unsaid:
            word = min(unsaid, key=_in_how_many([words[other] for other in others]))
            left = [other for other in others if word in words[other]]
            if len(left) == len(others):
                break
            said.append(_SHORT_TYPES.get(word, word))
            unsaid.remove(word)
            others = left
        found[name] = _written(function, said)
    return found


def _in_how_many(others: Sequence[list[str]]) -> Callable[[str], int]:
    return lambda word: sum(word in other for other in others)


def _words(name: str) -> list[str]:
    """What may tell a name from others: its template arguments, else the words of a plain name."""
    function, _, inside = _parts(name)
    if not inside:
        return function.split("_")
    return [word for word in _TOKEN.findall(_CAST.sub("", inside)) if word not in _NOISE]


def _written(function: str, said: Sequence[str]) -> str:
    """The function and, in parentheses, what is said of it; the function gives way for length."""
    behind = f" ({', '.join(said)})" if said else ""
    if len(function) + len(behind) <= WIDEST:
        return function + behind
    head = _shortened(function, max(WIDEST - len(behind), _LEAST))
    most = WIDEST - len(head)
    return head + (behind if len(behind) <= most else f"{behind[: most - 2]}…)")


def _shortened(text: str, width: int) -> str:
    """Text without its middle: numbers that tell kernels apart stand at the end."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 3
    return f"{text[: width - 1 - tail]}…{text[-tail:]}"


def _numbered(full: Sequence[str], found: dict[str, str]) -> dict[str, str]:
    """The names with a number behind those that nothing else tells apart, in their own order."""
    shared: dict[str, list[str]] = {}
    for name in full:
        shared.setdefault(found[name], []).append(name)
    for short, alike in shared.items():
        if len(alike) > 1:
            for number, name in enumerate(alike, 1):
                found[name] = f"{_shortened(short, WIDEST - 5)} #{number}"
    return found
