"""The program inside the measured process: builds a model, runs its steps, writes a result.

``python -m launchlens.harness SPEC.json`` is started by the capture room, with or without
nsys around it. Of the rest of the package it imports what it shares with the parent alone:
:mod:`launchlens.protocol` (and with it pydantic), :mod:`launchlens.errors` and the table of
capture errors; torch only when the child really runs. :mod:`~launchlens.harness.variants`,
:mod:`~launchlens.harness.presets` and :mod:`~launchlens.harness.equivalence` are cheap to import
for a parent that writes specs and reads results.
"""
