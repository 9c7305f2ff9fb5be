"""Read the picture of a page with a vision model."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from forebay.agent import Attempt, Reject
from forebay.jsonb import mended
from forebay_agents.checkpoints import Checkpoints
from forebay_agents.models import prompts
from forebay_agents.models.answer import InvalidAnswer, Transcript, schema_text
from forebay_agents.models.client import Call, Client, Message, Truncated
from forebay_agents.models.refusals import ContextExceeded, Filtered
from forebay_agents.models.settings import Endpoint, vision_endpoint
from forebay_agents.pages import GAP, Page, Row, Segment

CERTAINTY = 0.7
"""A vision model tells no certainty of its own: this one stands for all pages it reads."""


class Vision:
    """A vision model at an OpenAI-compatible endpoint that copies what pages say."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._client = Client(endpoint)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Vision | None:
        """Return the configured model, None when there is none; raises SettingError."""
        endpoint = vision_endpoint(environment)
        return cls(endpoint) if endpoint else None

    def read(
        self, number: int, png: bytes, page: Page, attempt: Attempt, checkpoints: Checkpoints
    ) -> Page:
        """Return the page with what its picture says.

        Rows are spread evenly over the page and segments over its width, as if typewritten: a
        model tells no places. Raises Reject when this picture cannot be read this way, Retry for
        other refusals of the endpoint and for a stop.
        """
        where = f"while the vision model read page {number}"
        call = Call(f"vision-{number}", self._key(number, png), where)
        prompt = self._messages(png)
        try:
            answer = self._client.answer(call, prompt, Transcript, attempt, checkpoints)
        except Filtered as error:
            raise Reject("It refused the picture's content.", "content_filtered") from error
        except (InvalidAnswer, Truncated) as error:
            raise Reject("Its answer was not usable.", "bad_input") from error
        except ContextExceeded as error:
            raise Reject("The picture is too large for it.", "context_too_long") from error
        return self._read(page, answer)

    def _read(self, page: Page, transcript: Transcript) -> Page:
        """Return the page as transcribed, with a note that is the same on all pages."""
        note = (
            "Scanned pages were read by the vision model"
            f" {self.endpoint.name} with the prompt {prompts.VISION}."
        )
        return replace(_written(page, transcript.rows), notes=[*page.notes, note])

    def _messages(self, png: bytes) -> list[Message]:
        system = prompts.system_prompt(prompts.VISION, Transcript, self.endpoint.structured)
        url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
        picture = {"type": "image_url", "image_url": {"url": url}}
        return [
            {"role": "system", "content": system},
            {"role": "user", "content": [picture]},
        ]

    def _key(self, number: int, png: bytes) -> str:
        prompt = prompts.prompt(prompts.VISION)
        asked = [self.endpoint.base_url, self.endpoint.name, prompt, schema_text(Transcript)]
        digest = hashlib.sha256(repr(asked).encode() + png).hexdigest()
        return f"vision-{number}-{digest[:8]}"


def _written(page: Page, rows: Sequence[str]) -> Page:
    """Return the page with the rows of a transcript."""
    said = [text for row in rows if (text := mended(row).strip())]
    longest = max(map(len, said), default=1)
    height = page.height / max(1, len(said))
    return replace(
        page,
        text="\n".join(said),
        rows=[
            _row(text, page.width / longest, index * height, (index + 1) * height)
            for index, text in enumerate(said)
        ],
        source="vision",
        certainty=CERTAINTY,
    )


def _row(text: str, letter: float, top: float, bottom: float) -> Row:
    """Return the segments of a row whose letters are all `letter` points wide."""
    row: Row = []
    start = 0
    for part in text.split(GAP):
        if part.strip():
            row.append(
                Segment(part.strip(), (start * letter, top, (start + len(part)) * letter, bottom))
            )
        start += len(part) + len(GAP)
    return row
