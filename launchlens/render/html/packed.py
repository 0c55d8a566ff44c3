"""What only the timeline needs, packed into the page: its data, and the library that draws it."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

_PLOTLY = Path(__file__).parent / "vendor/plotly-basic.min.js"


@cache
def plotly_source() -> str:
    """plotly.js, the bundle of its basic charts."""
    return _PLOTLY.read_text("utf-8")


def packed_json(value: Any) -> str:
    """A value as JSON in gzip in base64: no text in it can end the element that holds it."""
    return packed(json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":")))


def packed(text: str) -> str:
    """A text in gzip, the same for the same text, in base64."""
    return base64.b64encode(gzip.compress(text.encode("utf-8"), 9, mtime=0)).decode("ascii")
