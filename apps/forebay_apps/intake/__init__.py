"""Intake: people hand in documents, and follow them until they are read."""
