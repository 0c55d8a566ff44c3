"""Thresholds, budgets and reports as nobody should write them."""

import copy
import json
import math

from launchlens.catalogue import by_name

_NUMBERS = (
    *(
        "0",
        "1",
        "-1",
        "+0",
        "1e999",
        "1e-999",
        "nan",
        "inf",
        "9" * 400,
        "0." + "3" * 400,
        "٣",
        "1_000",
    ),
    *("0x10", "5%", "-3%", "2pp", "15ms", "1.5GiB", "1 s", "", ".", "1.2.3", "½", "1e5", "99999%"),
)
_OPERATORS = (">", "<", ">=", "<=", ">+", "<-", "=", "==", ">-", ":", "", " > ", ">>", "≥")
_WORDS = (
    "blockers",
    "idle",
    "decode.idle",
    "prefill",
    "__class__",
    "a" * 10_000,
    "",
    "idle[decode]",
    "(",
    "\0",
    "\x1b[0m",
)


def metric(rng):
    return rng.choice(tuple(by_name())) if rng.random() < 0.7 else rng.choice(_WORDS)


def threshold(rng):
    """A condition of --fail-on: half of them as they should be."""
    if rng.random() < 0.5:
        name = rng.choice(tuple(by_name()))
        return f"{name}{rng.choice(_OPERATORS[:6])}{_fitting(rng, name)}"
    if rng.random() < 0.1:
        return "".join(chr(rng.randrange(1, 0x250)) for _ in range(rng.randrange(40)))
    return f"{metric(rng)}{rng.choice(_OPERATORS)}{rng.choice(_NUMBERS)}"


def _fitting(rng, name):
    """A quantity in the unit of a metric."""
    unit = by_name()[name].unit
    number = rng.choice(("0", "1", "3", "1000000"))
    return number + {"ns": "us", "fraction": "pp", "bytes": "MiB"}.get(unit, "")


_HEADS = ("[models]", "[[models]]", "[limits]", "[models.a.b.c]", "", "[models.'']")


def budget(rng):
    """A budget file, most often nearly right."""
    if rng.random() < 0.15:
        return rng.choice(
            (
                "[" * 5000,
                "a = " + "[" * 20_000,
                "x." * 3000 + "y = 1",
                "a = {" * 2000,
                "\ufeff[[limit]]",
                "[[limit]]\n" * 3000,
                "limits = 1979-05-27T07:32:00Z",
                "",
            )
        )
    odd = rng.random() < 0.5
    lines = []
    for number in range(rng.randrange(1, 4)):
        pattern = f"{number * '?'}*"
        if odd:
            pattern = rng.choice(("*", "model*", "[", "**/x", "qwen3-0.6b", "a" * 500, ""))
        phase = rng.choice(("", "", ".decode", ".prefill", ".x" if odd else ""))
        lines.append(rng.choice(_HEADS) if odd and rng.random() < 0.2 else "")
        lines.append(f'[models."{pattern}"{phase}]')
        for name in rng.sample(tuple(by_name()), rng.randrange(1, 4)):
            unit = by_name()[name].unit
            amount = {"ns": '"15ms"', "fraction": '"50%"', "bytes": '"2GiB"'}.get(unit, "3")
            value = rng.choice((amount, f"{{ min = {amount} }}", f"{{ max = {amount} }}"))
            key = f'"{name}"'
            if odd and rng.random() < 0.4:
                key = rng.choice((metric(rng)[:200].replace("\0", ""), '"idle"', "max", "phase"))
                value = _toml_value(rng)
            lines.append(f"{key} = {value}")
    return "\n".join(lines)


def _toml_value(rng):
    simple = (
        "1",
        "-1",
        "0.5",
        "1e400",
        "nan",
        "inf",
        "-inf",
        "true",
        '"15ms"',
        '"50%"',
        "9" * 30,
        "'x'",
        "[]",
        "{}",
    )
    if rng.random() < 0.4:
        inner = rng.choice(("max", "min", "value", "change", "phase", "more", "allow"))
        outer = rng.choice(("min", "note", "max"))
        return f"{{ {inner} = {rng.choice(simple)}, {outer} = {rng.choice(simple)} }}"
    return rng.choice(
        (*simple, '"' + threshold(rng).replace("\\", "").replace('"', "").replace("\n", "") + '"')
    )


_ODD = (
    *(None, True, -1, 0, 1.5, 10**400, -(10**30), math.nan, math.inf, -math.inf, "", "x", "NaN"),
    *(
        "<img src=x>",
        "@someone",
        "# a\n|b|",
        "\x1b[31m",
        "::error::x",
        "\ud800",
        [],
        {},
        [[]],
        [None],
    ),
    *({"a": 1}, "a" * 50_000, 2**63),
)


def report(rng, data):
    """A report of launchlens with some values, keys or lists that do not belong."""
    document = json.loads(data)
    for _ in range(rng.choice((1, 1, 2, 4, 20))):
        _spoil(rng, document)
    text = json.dumps(document, ensure_ascii=rng.random() < 0.5)
    way = rng.random()
    if way < 0.05:
        text = text[: rng.randrange(len(text))]
    elif way < 0.08:
        text = rng.choice(("[" * 100_000, '{"a":' * 50_000, "", "null", "[]", '"x"', "9" * 5000))
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    if rng.random() < 0.1 and raw:
        raw[rng.randrange(len(raw))] = rng.randrange(256)
    return bytes(raw)


def _alike(value):
    """Values of the same type, so that what reads types alone lets them pass."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, int):
        return (0, -1, 1, 10**12, 2**62)
    if isinstance(value, float):
        return (0.0, -0.5, 1.5, 1e-300, 1e18)
    if isinstance(value, str):
        return ("<img src=x>", "@someone", "# a\n|b|", "\x1b[31m", "::error::x", "better", "", "ns")
    return (None, [], {})


def _spoil(rng, node):
    """Walk down to somewhere, and change what is there."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = rng.choice(keys)
        if isinstance(node[key], (dict, list)) and node[key] and rng.random() < 0.85:
            node = node[key]
            continue
        way = rng.randrange(5)
        if way == 0:
            del node[key]
        elif way == 1 and isinstance(node, list):
            node += copy.deepcopy(node[:50])
        elif way == 2 and isinstance(node, dict):
            node[rng.choice(("x", "schema", "a" * 1000, ""))] = copy.deepcopy(node[key])
        else:
            node[key] = copy.deepcopy(rng.choice(_alike(node[key]) if rng.random() < 0.7 else _ODD))
        return
