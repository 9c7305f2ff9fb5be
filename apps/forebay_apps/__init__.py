"""The two web apps: intake for people who upload, the orchestrator for operators."""
