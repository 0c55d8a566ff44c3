"""``launchlens run``: any program under nsys, looked over before and after, stored as a run."""
