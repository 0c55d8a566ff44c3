"""The program inside the measured process: builds a model, runs its steps, writes a result.

``python -m launchlens.harness SPEC.json`` is started by the capture room, with or without
nsys around it. With the parent it shares :mod:`launchlens.protocol`, :mod:`launchlens.errors` and
the table of capture errors. The parent uses its variants, presets and equivalence too: those import
no torch.
"""
