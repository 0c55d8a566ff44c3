"""The command line: one file for each command, joined in `main`."""
