"""The orchestrator: what operators see of the work, and how they act on it."""

ROLES = ("viewer", "operator", "reader", "agent", "upkeep")  # that its login acts as
