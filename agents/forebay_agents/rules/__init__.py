"""Find fields and line items by the words and numbers of a page, without any model."""

from forebay_agents.rules.edges import EdgePages
from forebay_agents.rules.fields import find_fields
from forebay_agents.rules.language import language_of
from forebay_agents.rules.lines import LineReader

__all__ = ["EdgePages", "LineReader", "find_fields", "language_of"]
