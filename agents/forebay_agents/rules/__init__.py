"""Find fields and line items by the words and numbers of a page, without any model."""

from forebay_agents.rules.fields import find_fields

__all__ = ["find_fields"]
