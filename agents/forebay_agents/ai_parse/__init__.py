"""ai_parse_document as a reader: what a SQL warehouse makes of a PDF, as pages like our own."""

from forebay_agents.ai_parse.reader import AiParse

__all__ = ["AiParse"]
