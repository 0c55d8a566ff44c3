"""The commands, one file each: flags, checks, one call of the workflow, one report, an exit code.

A file's command is the function of its name, or an ``app`` that holds several.
"""
