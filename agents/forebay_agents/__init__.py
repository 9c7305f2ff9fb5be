"""Agents that run one attempt: read the document, report the result."""
