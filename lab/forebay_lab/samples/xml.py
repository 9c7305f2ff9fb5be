"""Write XML from nested tags."""

from collections.abc import Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr


@dataclass(frozen=True, slots=True)
class Tag:
    """An element with its prefix, its attributes, and its text or the elements in it."""

    name: str
    content: tuple["Tag | str", ...]
    attributes: Mapping[str, str]

    def document(self, spaces: Mapping[str, str]) -> bytes:
        """Return the document that this is the root of; `spaces` are name spaces by prefix."""
        declared = {f"xmlns:{prefix}".rstrip(":"): uri for prefix, uri in spaces.items()}
        root = Tag(self.name, self.content, declared | dict(self.attributes))
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{root}\n'.encode()

    def renamed(self, names: Mapping[str, str]) -> "Tag":
        """Return the same with other names for those that are keys of `names`."""
        inside = (each if isinstance(each, str) else each.renamed(names) for each in self.content)
        return Tag(names.get(self.name, self.name), tuple(inside), self.attributes)

    def __str__(self) -> str:
        said = "".join(f" {name}={quoteattr(value)}" for name, value in self.attributes.items())
        inside = "".join(
            escape(each) if isinstance(each, str) else str(each) for each in self.content
        )
        return f"<{self.name}{said}>{inside}</{self.name}>"


def tag(name: str, *content: Tag | str, **attributes: str) -> Tag:
    """Return an element."""
    return Tag(name, content, attributes)
