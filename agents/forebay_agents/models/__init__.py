"""Ask an OpenAI-compatible model for what the rules look for; every answer is checked."""
