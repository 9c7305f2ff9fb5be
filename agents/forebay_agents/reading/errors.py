"""What reading a document may fail with."""

from forebay.agent import ErrorKind


class DocumentError(Exception):
    """Say why a document cannot be read, in a sentence for the person who sent it."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


class PageFailed(Exception):
    """Say in a sentence why a page gave no words, or no picture; others may."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class OcrUnavailable(Exception):
    """Say that tesseract, or all of its languages, are not installed on this machine."""
