"""What an agent is set to, in words."""

from __future__ import annotations

from forebay.rows import AgentState
from forebay_apps.orchestrator.agent_settings import SETTINGS, described
from forebay_apps.web import formats


def definition(state: AgentState) -> list[tuple[str, str]]:
    """Return the settings of an agent, by name, and what it has learned."""
    said = [(each.word, described(each, each.of(state))) for each in SETTINGS]
    return [*said, ("Learned share of the estimate", _learned(state))]


def _learned(state: AgentState) -> str:
    if not state.learned_samples:
        return "nothing yet"
    return f"{state.learned_ratio:.2f}, of {formats.number(state.learned_samples)} attempts"
