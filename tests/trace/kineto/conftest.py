from __future__ import annotations

import pytest
from kineto_events import Written


@pytest.fixture
def write(tmp_path):
    return Written(tmp_path)
