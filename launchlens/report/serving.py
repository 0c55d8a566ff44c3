"""What serving engines' steps add to a report: how they ran, what lies between them, ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from launchlens.records.figures import Analysis, BetweenSteps, Phase, RangeCost, ReplayState, Stat
from launchlens.records.metric import Unit
from launchlens.report.cells import Name, Value
from launchlens.report.document import Block, Column, Row, Section, Table
from launchlens.report.words import LONG, digits, format_value, plain, step_words

_MOST_RANGES = 15
_MOST_REPLAYS = 40
_MOST_REASONS = 3


@dataclass(slots=True)
class _Ran:
    """How all steps of a phase ran, of all processes and numbers of tokens together."""

    steps: int = 0
    one_graph: int = 0
    pieces: int = 0
    eager: int = 0
    other: int = 0

    def add(self, state: ReplayState) -> None:
        self.steps += state.steps
        self.one_graph += state.one_graph
        self.pieces += state.pieces
        self.eager += state.eager
        self.other += state.capturing + state.unknown

    @property
    def only_eager(self) -> bool:
        """Whether it is known of every step that it ran eagerly."""
        return self.eager == self.steps


def replay_sentence(analysis: Analysis) -> str | None:
    """How the steps of each phase ran, in a sentence; None where there is only one phase."""
    phases = _by_phase(analysis.replays)
    if len(phases) < 2:
        return None
    eager = [phase for phase, ran in phases.items() if ran.only_eager]
    if len(eager) == len(phases):
        counted = " and ".join(f"{ran.eager} {phase}" for phase, ran in phases.items())
        return f"No step replayed a CUDA graph: {counted} steps ran eagerly."
    parts = [f"{phase} ran {_how(ran)}" for phase, ran in phases.items() if phase not in eager]
    if not eager:
        return f"Replay of CUDA graphs: {'; '.join(parts)}."
    never = " and ".join(eager)
    steps = sum(phases[phase].steps for phase in eager)
    was = "was" if len(eager) == 1 else "were"
    all_of = f"all {steps} steps" if steps > 1 else "its one step"
    return f"{never} {was} never captured: {all_of} ran eagerly, while {'; '.join(parts)}."


def log_sentences(analysis: Analysis) -> Iterator[str]:
    """Why phases were not captured, in the words of the engine's log."""
    log = analysis.engine_log
    if log is None:
        return
    phases = _by_phase(analysis.replays)
    wanting = {phase for phase, ran in phases.items() if ran.one_graph < ran.steps}
    for reason in log.reasons[:_MOST_REASONS]:
        if not wanting or (reason.phases and not wanting & set(reason.phases)):
            continue
        remedy = f" ({reason.remedy})" if reason.remedy else ""
        yield f"{log.engine} says: {plain(reason.text, LONG)}{remedy}"


def _by_phase(replays: Sequence[ReplayState]) -> dict[Phase, _Ran]:
    phases: dict[Phase, _Ran] = {}
    for state in replays:
        phases.setdefault(state.phase, _Ran()).add(state)
    return phases


def _how(ran: _Ran) -> str:
    """How the steps of a phase ran, where not all ran eagerly."""
    ways = (
        (ran.one_graph, "as one graph"),
        (ran.pieces, "in pieces"),
        (ran.eager, "eagerly"),
        (ran.other, "in ways unknown"),
    )
    said = [(number, way) for number, way in ways if number]
    if len(said) == 1:
        return f"{said[0][1]} ({ran.steps} of {ran.steps} steps)"
    return ", ".join(f"{way} in {number} of {ran.steps} steps" for number, way in said)


def serving_sections(analysis: Analysis) -> Iterator[Section]:
    """Details of the same: shown where there is room, or when asked for."""
    blocks: list[Block] = []
    if len(analysis.replays) > 1:
        blocks.append(_replay_table(analysis.replays))
    if analysis.between:
        blocks.append(_between_table(analysis.between))
    if blocks:
        yield Section("serving", "How the steps ran, and what lies between them", tuple(blocks))
    if analysis.ranges:
        yield Section("ranges", "Ranges inside the steps", tuple(_range_tables(analysis.ranges)))


def _replay_table(replays: Sequence[ReplayState]) -> Table:
    several = len({state.pid for state in replays}) > 1
    columns = [Column("replay of steps", "text"), Column("tokens")]
    columns += [Column("pid")] if several else []
    titles = ("steps", "one graph", "in pieces", "eager", "launches beside", "padding")
    columns += [Column(title) for title in titles]
    rows = []
    for state in replays:
        counts = (state.steps, state.one_graph, state.pieces, state.eager)
        where = (str(state.pid),) if several else ()
        rows.append(
            Row(
                (
                    state.phase,
                    _tokens(state),
                    *where,
                    *(Value(number, "count") for number in counts),
                    Value(state.launches_beside, "count"),
                    _padding(state),
                )
            )
        )
    return Table(
        "How the steps ran",
        tuple(columns),
        tuple(rows),
        caption="Steps by phase and number of tokens. Launches beside: kernels launched outside "
        "of graphs, median. Padding: tokens computed for each one asked for.",
        names=2,
        prominence="more",
        most=_MOST_REPLAYS,
    )


def _tokens(state: ReplayState) -> str:
    if state.tokens_to is None:
        return "not told"
    if state.tokens_from == state.tokens_to:
        return str(state.tokens_to)
    return f"{state.tokens_from}-{state.tokens_to}"


def _padding(state: ReplayState) -> str:
    if not state.replayed:
        return "-"
    return "unknown" if state.padding is None else f"{digits(state.padding)}×"


def _between_table(between: Sequence[BetweenSteps]) -> Table:
    titles = ("intervals", "launches", "copies", "syncs", "length", "GPU idle")
    rows = [
        Row(
            (
                _after(one, between),
                Value(one.intervals, "count"),
                _median(one.launches, "count"),
                _median(one.copies, "count"),
                _median(one.sync_calls, "count"),
                _median(one.length_ns, "ns"),
                _median(one.idle_ns, "ns"),
            )
        )
        for one in between
    ]
    return Table(
        "Between steps",
        (Column("from a step's end to the next", "text"), *(Column(title) for title in titles)),
        tuple(rows),
        caption="From one step's end to the next one's start on its thread (sampling, scheduling, "
        "waiting for requests); medians.",
        prominence="more",
    )


def _after(one: BetweenSteps, others: Sequence[BetweenSteps]) -> str:
    said = f"after a {step_words(one.after)}"
    if sum(other.after == one.after for other in others) > 1:
        said += f" ({one.pid}:{'?' if one.device is None else one.device})"
    return said


def _median(stat: Stat, unit: Unit) -> Value:
    return Value(stat.median, unit, stat.bound)


def _range_tables(ranges: Sequence[RangeCost]) -> Iterator[Table]:
    groups: dict[tuple[Phase, int], list[RangeCost]] = {}
    for one in ranges:
        groups.setdefault((one.phase, one.pid), []).append(one)
    phases = [phase for phase, _ in groups]
    for (phase, pid), members in groups.items():
        where = f", process {pid}" if phases.count(phase) > 1 else ""
        titles = ("in a step", "host time", "own", "launches", "own", "GPU idle", "own")
        yield Table(
            f"Ranges inside {phase} steps{where}",
            (Column(f"{phase}, ranges", "text"), *(Column(title) for title in titles)),
            tuple(_range_row(one) for one in members),
            caption="Of a step, median. Own: without the ranges within. GPU idle: while the host "
            "was inside.",
            prominence="more",
            most=_MOST_RANGES,
            rest="--format json has all",
        )


def _range_row(one: RangeCost) -> Row:
    name = Name(plain(one.name), "·" * (len(one.path) - 1))
    count = one.count if not float(one.count).is_integer() else int(one.count)
    return Row(
        (
            name,
            format_value(count, "count"),
            Value(one.host_ns, "ns"),
            Value(one.own_host_ns, "ns"),
            Value(one.launches, "count"),
            Value(one.own_launches, "count"),
            Value(one.idle_ns, "ns"),
            Value(one.own_idle_ns, "ns"),
        )
    )
