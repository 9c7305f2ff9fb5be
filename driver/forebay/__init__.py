"""Forebay: the control plane of long-running agent work in one Postgres database."""

__version__ = "0.1.0"
