"""The commit that was measured."""

from __future__ import annotations

from dataclasses import dataclass

_SHORT_HASH = 7
_DIRTY = ("-dirty", "+dirty")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of git. ``dirty``: files were changed that are not in it."""

    sha: str
    dirty: bool = False

    @classmethod
    def described(cls, text: str) -> Commit:
        """A commit as ``git describe --always --dirty`` writes it."""
        for suffix in _DIRTY:
            if text.endswith(suffix):
                return cls(text.removesuffix(suffix), dirty=True)
        return cls(text)

    def is_same(self, sha: str) -> bool:
        """Whether a hash is this commit's, either of them shortened to seven letters or more."""
        shorter, longer = sorted((self.sha.lower(), sha.lower()), key=len)
        return len(shorter) >= _SHORT_HASH and longer.startswith(shorter)
