"""The words by which documents name their fields: a file for each language."""
