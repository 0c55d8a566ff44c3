"""A comment under a change that keeps itself current, on whatever forge the change is reviewed."""

from launchlens.forge.interface import Change, Forge, ForgeError, Job
from launchlens.forge.post import find_forge, find_job, make_marker, open_change, post_comment

__all__ = [
    "Change",
    "Forge",
    "ForgeError",
    "Job",
    "find_forge",
    "find_job",
    "make_marker",
    "open_change",
    "post_comment",
]
