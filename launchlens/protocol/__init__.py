"""What is asked of the program inside the measured process, and what it answers.

The parent writes a `HarnessSpec` (:mod:`~launchlens.protocol.spec`), the child
(:mod:`launchlens.harness`) answers with one result for its mode
(:mod:`~launchlens.protocol.result`). Both sides import these models and nothing else of each
other. They are pydantic dataclasses: what is constructed or read is checked strictly, and keys
that nobody knows are refused. pydantic is the one import this costs the measured process; it is
over before anything is measured.

Times are nanoseconds, sizes are bytes, and unknown is None (null in JSON).
"""
