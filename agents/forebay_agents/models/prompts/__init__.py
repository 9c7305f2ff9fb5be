"""The prompts, one file for each version: a released file never changes, a new one follows it."""

import secrets
from functools import cache
from importlib import resources

from pydantic import BaseModel

from forebay_agents.models.answer import schema_text
from forebay_agents.models.settings import Structured

EXTRACT = "extract-v1"
REPAIR = "repair-v1"
VISION = "vision-v1"


@cache
def prompt(name: str) -> str:
    """Return the text of a prompt by its name with the version."""
    return resources.files(__name__).joinpath(f"{name}.md").read_text("utf-8").strip()


def system_prompt(name: str, shape: type[BaseModel], structured: Structured) -> str:
    """Return the prompt, and the schema in words for endpoints that take it nowhere else."""
    if structured == "json_schema":
        return prompt(name)
    return f"{prompt(name)}\n\nThe shape, as a JSON schema:\n\n{schema_text(shape)}"


def complaint(about: str) -> str:
    """Return the message that asks for a repair."""
    return prompt(REPAIR).replace("{complaint}", about)


def fence(text: str) -> str:
    """Return a random word that `text` does not hold: it fences the text off in a message."""
    while (word := secrets.token_hex(4)) in text:
        pass
    return word
