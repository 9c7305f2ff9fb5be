"""The languages whose documents are read: their labels are known, and OCR looks for them."""

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "ja")
"""By ISO 639-1; the commonest first."""

SPACED = tuple(language for language in LANGUAGES if language != "ja")
"""Those that part words by spaces."""
