"""How tests wait for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

PATIENCE = 30.0
"""Seconds: a busy machine takes its time. Who means a speed has the slow way take longer."""


def until(condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    """Wait until the condition is true, and return what it gave; fail after so many seconds."""
    give_up_at = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < give_up_at, "it did not happen in time"
        time.sleep(0.02)
    return value
