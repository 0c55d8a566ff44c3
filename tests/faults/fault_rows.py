"""Picks figures out of what `analyze --format json` prints."""


def values(steps, *names):
    """The figures of each step."""
    return [tuple(step[name] for name in names) for step in steps]
