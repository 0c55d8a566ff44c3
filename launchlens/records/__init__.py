"""The records that rooms hand to one another. They hold values and compute nothing.

- `columns`: a trace as NumPy columns.
- `figures`: figures of one trace.
- `measured`: what is timed without a profiler, and how a variant was run.
- `comparison`: a comparison, the record every renderer draws from.
- `timeline`: one step laid out in time.
"""
