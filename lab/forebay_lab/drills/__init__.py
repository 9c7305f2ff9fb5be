"""Drills: what Forebay promises, measured from the outside."""
