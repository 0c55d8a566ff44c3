"""Text files that a user names, such as budgets and reports. A leaf."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

MOST_BYTES = 64 << 20
"""A report of eight sides with all their kernels has some 2 MB."""


def read_text_file(path: Path) -> str:
    """The whole text of a file.

    Raises:
        OSError: it cannot be read, is a pipe or a device (which may never end), or is larger than
            `MOST_BYTES`.
        UnicodeDecodeError: it is not UTF-8.
    """
    about = path.stat()
    if not stat.S_ISREG(about.st_mode) and not stat.S_ISDIR(about.st_mode):
        raise OSError(errno.EINVAL, "It is a pipe or a device", str(path))
    if about.st_size > MOST_BYTES:
        raise OSError(errno.EFBIG, f"It is larger than {MOST_BYTES >> 20} MiB", str(path))
    return path.read_text(encoding="utf-8")
