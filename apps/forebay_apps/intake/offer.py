"""The agents that intake offers: those that it is to offer, and that are registered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from forebay.calls import submitter
from forebay.logs import EventLog
from forebay_apps.web.database import Connections
from forebay_apps.web.loop import Loop

log = EventLog(__name__)


def offered(connection: Connection[Any], agents: Sequence[str]) -> list[str]:
    """Return those of the agents that can be given documents, in their order."""
    return submitter.registered_agents(connection, agents=agents)


class Offer(Loop):
    """Log which agents intake is to offer and nobody has set up, whenever that changes."""

    name = "offer"
    every = 300.0
    after_an_error = 30.0

    def __init__(self, connections: Connections, agents: Sequence[str]) -> None:
        super().__init__()
        self._connections = connections
        self._agents = agents
        self._missing: list[str] = []

    def step(self) -> list[str]:
        """Look for agents that are missing, and return them."""
        with self._connections.as_role("submitter") as connection:
            found = offered(connection, self._agents)
        missing = [agent for agent in self._agents if agent not in found]
        if missing and missing != self._missing:
            log.warning("agents_missing", agents=missing, hint="forebay agent set NAME")
        self._missing = missing
        return missing
