"""Intake: people hand in documents, and follow them until they are read."""

ROLES = ("submitter", "reader", "upkeep")  # that its login acts as
