"""The words, parties and goods of each market: data only, every name and number made up."""

from forebay_lab.samples.words.banks import BANKS
from forebay_lab.samples.words.dutch import DUTCH
from forebay_lab.samples.words.english import AMERICAN, BRITISH
from forebay_lab.samples.words.french import FRENCH
from forebay_lab.samples.words.german import GERMAN
from forebay_lab.samples.words.italian import ITALIAN
from forebay_lab.samples.words.japanese import JAPANESE
from forebay_lab.samples.words.mixed import BILINGUAL, SWISS
from forebay_lab.samples.words.portuguese import BRAZILIAN, PORTUGUESE
from forebay_lab.samples.words.spanish import SPANISH

__all__ = ["BANKS", "MARKETS"]

MARKETS = {
    "us": AMERICAN,
    "gb": BRITISH,
    "de": GERMAN,
    "fr": FRENCH,
    "es": SPANISH,
    "it": ITALIAN,
    "pt": PORTUGUESE,
    "br": BRAZILIAN,
    "nl": DUTCH,
    "jp": JAPANESE,
    "ch": SWISS,
    "de en": BILINGUAL,
}
"""The markets, by the name that a plan calls them."""
