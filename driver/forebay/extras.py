"""What of this package's optional parts is installed."""

import re
from importlib import metadata


def has(extra: str) -> bool:
    """Tell whether all that an extra of this package brings is installed."""
    for requirement in metadata.requires("forebay") or []:
        named, _, marker = requirement.partition(";")
        if re.search(rf"""extra\s*==\s*["']{extra}["']""", marker):
            try:
                metadata.distribution(re.split(r"[^\w.-]", named)[0])
            except metadata.PackageNotFoundError:
                return False
    return True
