"""``launchlens profile``: plan the child processes, run them, gather what they left."""
