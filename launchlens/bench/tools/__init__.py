"""One file for each tool: ``TITLE``, ``reads(document)`` and ``results(document)``."""
