"""How a comparison tells of sides that failed, or of one alone, as `profile` leaves them."""

from __future__ import annotations

import handmade
import pytest
import stored_runs
from written import as_markdown, in_terminal

from launchlens.comparison import tabulate
from launchlens.limits import check_comparison, parse_condition
from launchlens.records.comparison import SideInput
from launchlens.records.variant import Failure, Untraced, VariantFacts
from launchlens.report.comparison_first import comparison_sentences
from launchlens.workflow.load import Choices, load

NOTE = "Shortened to 2 of 28 layers."
OOM = Failure("OutOfMemoryError", "ran out of GPU memory (1 of 80 GiB free)", None, None)


def side(name="eager", *, wall_ns=None, failure=None, analysis=None, **facts):
    untraced = (Untraced("prefill", handmade.stat(wall_ns)),) if wall_ns else ()
    own = VariantFacts(model="m", variant=name, untraced=untraced, failure=failure, **facts)
    return SideInput(f"m-{name}", analysis, facts=own)


@pytest.fixture(scope="module")
def eager():
    """An eager side with the figures of a shipped trace."""
    return side(wall_ns=49_100_000, analysis=load(stored_runs.EAGER, Choices()).analysis)


def test_a_note_of_all_sides_stands_once_and_another_with_its_side():
    both = {"layers_note": "Shortened to 2 of 28 layers."}
    sides = [side(**both), side("cudagraph", notes=("Decode was left eager.",), **both)]
    remarks = tabulate(sides).remarks
    assert remarks[:2] == ("Shortened to 2 of 28 layers.", "m-cudagraph: Decode was left eager.")


class TestFailedCandidate:
    """Not a table of unknowns: the column says that it failed, the first line why."""

    @pytest.fixture
    def comparison(self, eager):
        return tabulate([eager, side("cudagraph", failure=OOM)])

    def test_first_line(self, comparison):
        assert list(comparison_sentences(comparison)) == [
            "m-eager → cudagraph: could not be captured: ran out of GPU memory (1 of 80 GiB free)"
        ]

    def test_terminal(self, comparison):
        out = in_terminal(comparison, width=80)
        rows = [line for line in out.partition("\n\n")[2].splitlines() if "  failed" in line]
        assert [row[:15].strip() for row in rows[:1]] == ["launches per st"]
        assert any(row.startswith("step, untraced") and "49.1 ms  " in row for row in rows)
        columns = next(line for line in out.splitlines() if line.startswith("GPU busy")).split()
        assert columns[4] == "failed"

    def test_markdown(self, comparison):
        assert "| step, untraced | 49.1 ms | failed |" in as_markdown(comparison)

    def test_threshold_is_not_known_to_hold(self, comparison):
        (result,) = check_comparison([parse_condition("untraced_ns>+5%")], comparison)
        assert not result.passed
        assert result.reason == "could not be captured"

    def test_one_that_ran_but_left_no_trace_keeps_its_speed_up(self, eager):
        lost = Failure("CaptureError", "nsys ended with 1", None, None, during="trace")
        comparison = tabulate([eager, side("cudagraph", wall_ns=13_000_000, failure=lost)])
        said, why = list(comparison_sentences(comparison))
        assert "prefill step 49.1 → 13.0 ms, 3.8× faster" in said
        assert "→ failed" in said
        assert why == "m-cudagraph could not be traced: nsys ended with 1"


def test_one_side_alone_is_a_sentence_and_a_table(eager):
    comparison = tabulate([eager])
    out = in_terminal(comparison, width=80)
    assert out.startswith("m-eager: prefill step 49.1 ms, GPU idle 92.6% (untraced); launches ")
    assert "→" not in out
    (failed,) = check_comparison([parse_condition("untraced_ns>40ms")], comparison)
    (held,) = check_comparison([parse_condition("untraced_ns>50ms")], comparison)
    assert (failed.status, held.status) == ("failed", "held")
    assert failed.baseline is None
