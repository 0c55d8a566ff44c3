"""What holds of every output, whatever went in."""

import json
import re

from launchlens.catalogue import by_name

EXIT_CODES = (0, 1, 2, 3)
_SIGNED = ("tail_ns", "queue_ns", "lead_in_ns")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]")


def strict_json(text):
    """JSON, without the NaN and Infinity that Python would let pass."""

    def refuse(constant):
        raise ValueError(f"JSON holds {constant}")

    return json.loads(text, parse_constant=refuse)


def wrong_of_ending(code, error, warned):
    """What is wrong with how a command ended: its exit code and what it said of it."""
    wrong = [f"warned: {text}" for text in warned]
    if code not in EXIT_CODES:
        wrong.append(f"exit code {code}")
    if "Traceback" in error:
        wrong.append("traceback on standard error")
    if code in (1, 2) and not error.strip():
        wrong.append(f"ended with {code} and said nothing")
    if code == 1 and "launchlens: " not in error:
        wrong.append("ended with 1 and not in a sentence of launchlens")
    if _CONTROL.search(error):
        wrong.append("control characters on standard error")
    return wrong


def wrong_of_analysis(data):
    """Figures of an analysis that cannot be."""
    wrong = []
    for step in data["steps"]:
        place = f"step {step['index']}"
        wrong += _wrong_figures(place, step)
        wrong += _wrong_gaps(place, step)
    for group in data["summary"]:
        place = f"group {group['phase']}"
        for name, stat in group["metrics"].items():
            for key in ("median", "low", "high", "minimum", "maximum", "p10", "p90"):
                wrong += _wrong_value(f"{place}.{key}", name, stat.get(key))
            low, median, high = (stat.get(k) for k in ("low", "median", "high"))
            if None not in (low, median, high) and not low <= median <= high:
                wrong.append(f"{place}: {name} {median} lies outside of {low} to {high}")
    return wrong


def wrong_of_comparison(data):
    """Figures and verdicts of a comparison that cannot be."""
    wrong = []
    for phase in data["phases"]:
        for row in phase["rows"]:
            for cell in row["cells"]:
                wrong += _wrong_value(phase["phase"], row["metric"], cell["value"])
                if cell["value"] is None and cell.get("verdict") in ("better", "worse", "same"):
                    wrong.append(f"{row['metric']}: unknown, and yet {cell['verdict']}")
    return wrong


def wrong_of_steps_after(before, after):
    """Figures that scrubbing changed."""
    if [s["range"] for s in before["steps"]] != [s["range"] for s in after["steps"]]:
        return []  # a range's text held something private, and may name no step now
    wrong = []
    for one, other in zip(before["steps"], after["steps"], strict=True):
        wrong += [
            f"scrub: {name} {one[name]} became {other[name]}"
            for name in one
            if name not in ("domain",) and one[name] != other[name]
        ]
    return wrong


def _wrong_figures(place, figures):
    return [
        line
        for name in by_name()
        if name in figures
        for line in _wrong_value(place, name, figures[name])
    ]


def _wrong_value(place, name, value):
    if value is None or isinstance(value, str):
        return []
    if name.startswith("idle") and not 0 <= value <= 1:
        return [f"{place}: {name} is {value}"]
    if value < 0 and name not in _SIGNED:
        return [f"{place}: {name} is {value}"]
    return []


def _wrong_gaps(place, step):
    gaps, window, busy = step["gaps_ns"], step["window_ns"], step["busy_ns"]
    wrong = [f"{place}: gap {k} is {v}" for k, v in (gaps or {}).items() if v is not None and v < 0]
    if window is not None and busy is not None and busy > window:
        wrong.append(f"{place}: busy {busy} of {window}")
    known = gaps is not None and None not in (window, busy, *gaps.values())
    if known and sum(gaps.values()) != window - busy:
        wrong.append(f"{place}: gaps sum to {sum(gaps.values())}, idle is {window - busy}")
    return wrong
