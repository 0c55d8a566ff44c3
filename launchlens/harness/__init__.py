"""The program inside the measured process: builds a model, runs its steps, writes a result.

``python -m launchlens.harness SPEC.json`` is started by the capture room, with or without
nsys around it. Only :mod:`launchlens.errors` is imported from the rest of the package, and
torch only when the child really runs: :mod:`~launchlens.harness.spec`,
:mod:`~launchlens.harness.presets` and :mod:`~launchlens.harness.equivalence` are cheap to
import for a parent that writes specs and reads results.
"""
