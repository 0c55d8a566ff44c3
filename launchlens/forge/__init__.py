"""A comment under a change that keeps itself current, on whatever forge the change is reviewed."""

from launchlens.forge.interface import Change, ForgeError
from launchlens.forge.post import make_marker, open_change, post_comment

__all__ = ["Change", "ForgeError", "make_marker", "open_change", "post_comment"]
