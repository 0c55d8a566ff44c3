"""What commands do, step by step: shared by the command line, the Python API and pytest."""
