"""Tell an agent that its result is stored."""

from __future__ import annotations

from collections.abc import Callable

from forebay.logs import EventLog

log = EventLog(__name__)


def notify(accepted: Callable[[], None] | None) -> None:
    """Call what the agent gave for this, if anything; what that raises is logged."""
    if accepted is None:
        return
    try:
        accepted()
    except Exception as error:
        log.warning("accepted_failed", error=type(error).__name__)
