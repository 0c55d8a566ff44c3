"""Figures and steps for other tools: the files that ``launchlens export`` writes."""
