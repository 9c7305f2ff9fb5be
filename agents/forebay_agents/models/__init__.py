"""Models that read documents, at any OpenAI-compatible endpoint.

Its documentation is docs/models.md. Importing it is cheap: `openai` is loaded with the first call.
"""

from forebay_agents.models.estimate import estimate_tokens
from forebay_agents.models.model import Model, prompt_of
from forebay_agents.models.vision import Vision

__all__ = ["Model", "Vision", "estimate_tokens", "prompt_of"]
