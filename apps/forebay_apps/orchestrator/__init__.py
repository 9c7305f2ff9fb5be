"""The orchestrator: what operators see of the work, and how they act on it."""
