"""Gather pages and findings into one result of bounded size, whatever the document's size."""

import json
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal, Self

from forebay import jsonb
from forebay.agent import Result
from forebay.storage import Storage
from forebay_agents.findings import NAMES, Findings
from forebay_agents.pages import Page
from forebay_agents.result_json import evidence_entry, line_entry, page_entry, table_entry
from forebay_agents.spool import Spool

PartName = Literal["text", "tables", "pages", "lines"]

RESULT_BYTES = 1_000_000
"""About how long a result may be as JSON; the database takes 1 MiB unless told otherwise."""

SHARES: dict[PartName, float] = {"text": 0.48, "tables": 0.2, "pages": 0.18, "lines": 0.08}
NOTES_SHARE = 0.03
"""How much of a result each part may take; what is left is for fields and their evidence."""

SUFFIXES: dict[PartName, str] = {
    "text": ".text.txt",
    "tables": ".tables.jsonl",
    "pages": ".pages.jsonl",
    "lines": ".lines.jsonl",
}
"""What the files beside a document are called, after its own name."""

NOTES, NOTE_LENGTH, VALUE_LENGTH = 100, 300, 500
"""How many notes there are, and the characters of one, and of a value."""

NO_FONT = (
    "Letters may be missing: a font is neither in the PDF nor on this machine. Save the PDF with"
    " its fonts, or install one for its script (on Debian fonts-ipafont-gothic for Japanese)."
)

LONGEST_CHARACTER = 6
"""Bytes that JSON takes for one at most."""


class Part:
    """A list in a result: its beginning, as far as there is room, and in a spool all of it."""

    def __init__(self, room: int) -> None:
        self.kept: list[Any] = []
        self.is_cut = False
        self.spool = Spool()
        self._room = room

    def add(self, item: Any) -> None:
        """Take a line of text, or what JSON has; once one did not fit, the rest only spools."""
        item = jsonb.mended(item)
        line = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
        self.spool.add(line.encode() + b"\n")
        if self.is_cut:
            return
        size = jsonb.size(item) + 2
        self.is_cut = size > self._room
        if not self.is_cut:
            self.kept.append(item)
        elif isinstance(item, str):
            self.kept.append(item[: self._room // LONGEST_CHARACTER])
        self._room -= size


class ResultBuilder:
    """Hold what the pages said so far, in a `with` block: `add` them in order, then `finish`."""

    def __init__(self, pages: int) -> None:
        self.count = pages
        self.summaries: list[Page] = []
        self._notes: dict[str, None] = {}
        self.parts = {name: Part(int(share * RESULT_BYTES)) for name, share in SHARES.items()}
        self._files = ExitStack()

    def __enter__(self) -> Self:
        for part in self.parts.values():
            self._files.enter_context(part.spool)
        return self

    def __exit__(self, *exception: object) -> None:
        self._files.close()

    @property
    def first_note(self) -> str | None:
        """The first that was said of a page, if anything was."""
        return next(iter(self._notes), None)

    def add(self, page: Page) -> None:
        """Take what `page` says."""
        self.summaries.append(replace(page, text="", rows=[], tables=[], notes=[]))
        if len(self._notes) <= NOTES:
            self._notes |= dict.fromkeys(page.notes)
        self.parts["pages"].add(page_entry(page))
        for line in page.text.splitlines():
            self.parts["text"].add(line)
        for table in page.tables:
            self.parts["tables"].add(table_entry(table, page.number))

    def finish(
        self, findings: Findings, confidence: Decimal, storage: Storage, name: str
    ) -> Result:
        """Return the result; a part that is too long goes whole into a file beside `name`.

        Raises StorageError when such a file cannot be written.
        """
        for line in findings.lines:
            self.parts["lines"].add(line_entry(line))
        fields = {
            name: findings.fields[name]
            for name in NAMES
            if name in findings.fields and len(findings.fields[name].value) <= VALUE_LENGTH
        }
        data: dict[str, Any] = {
            "fields": {field: found.value for field, found in fields.items()},
            "evidence": {field: evidence_entry(found.evidence) for field, found in fields.items()},
            "page_count": self.count,
            **{part: content.kept for part, content in self.parts.items()},
        }
        data["text"] = "\n".join(data["text"])
        data |= self._keep(storage, name)
        data["notes"] = _notes([*_unread(self.summaries), *findings.notes, *self._notes])
        return Result(jsonb.mended(data), confidence)

    def _keep(self, storage: Storage, name: str) -> dict[str, str]:
        """Write the parts that were cut, and return their files' names as the result has them."""
        files = {}
        for part, content in self.parts.items():
            if content.is_cut:
                files[f"{part}_file"] = f"{name}{SUFFIXES[part]}"
                storage.write(f"{name}{SUFFIXES[part]}", content.spool.chunks(), replace=True)
        return files


def _unread(pages: Sequence[Page]) -> Iterable[str]:
    """Say in sentences which pages nobody could read, or not surely, or that all are blank."""
    unread = [page.number for page in pages if page.needs_ocr]
    if unread:
        yield f"Shown as pictures or drawings, and not read: {_spans(unread)}."
    elif all(page.source == "none" and not (page.is_broken or page.lacks_font) for page in pages):
        yield "No page has text: the document is blank."
    fontless = [page.number for page in pages if page.lacks_font]
    if fontless:
        yield f"{NO_FONT} Affected: {_spans(fontless)}."


def _spans(numbers: Sequence[int]) -> str:
    """Return ascending numbers of pages as people write them: "pages 1-3, 7"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][-1] == number - 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return f"page{'s' * (len(numbers) > 1)} " + ", ".join("-".join(map(str, s)) for s in spans)


def _notes(notes: Iterable[str]) -> list[str]:
    """Return each note once, short, and no more than a reader can take in."""
    short = [f"{note[: NOTE_LENGTH - 1]}…" if len(note) > NOTE_LENGTH else note for note in notes]
    kept: list[str] = []
    room = NOTES_SHARE * RESULT_BYTES
    for note in dict.fromkeys(short):
        room -= jsonb.size(jsonb.mended(note)) + 2
        if room < 0 or len(kept) == NOTES - 1:
            return [*kept, "There are more such notes."]
        kept.append(note)
    return kept
