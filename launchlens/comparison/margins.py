"""The smallest differences that matter."""

from __future__ import annotations

SMALLEST_RELATIVE = 0.02
"""Smallest difference of a time, a rate or a size that matters: 2% of the baseline."""

SMALLEST_IDLE = 0.01
"""Smallest difference of an idle fraction that matters: one percentage point."""

SMALLEST_COUNT = 0.5
"""Smallest difference of a count that matters: anything from one up."""

BETWEEN_PROCESSES = 0.2
"""Change of a launch-bound step's untraced time that one process on a side cannot show.

Three processes of one H200, eager Gemma 3n E4B unchanged: 72.7, 75.8 and 79.5 ms, each with a 95%
interval of 1 to 2 ms. Other runs of it that day gave 66.3 and 70.3 ms.
"""
