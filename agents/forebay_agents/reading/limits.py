"""How much a document may cost whoever reads it."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Self

from forebay.settings import whole_number

MEGABYTE = 1 << 20

LEAST_MEMORY = 128
"""Megabytes; with less the reading process does not start."""

MOST = 1_000_000
"""What no limit needs to be above."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bound one document; each limit is set by FOREBAY_PARSE_ and its name in capitals.

    `memory_mb` is the address space of the reading process, and of tesseract; `seconds_to_open`
    bounds opening a file, `seconds_per_page` reading or drawing one page, `seconds_per_ocr_page`
    one page's OCR, all in processor time. Larger files than `file_mb` and longer ones than `pages`
    are refused; megabytes are of 1,048,576 bytes. A process that was lost more than `losses` times
    is not started again.
    """

    memory_mb: int = 1024
    seconds_to_open: int = 60
    seconds_per_page: int = 30
    seconds_per_ocr_page: int = 90
    file_mb: int = 300
    pages: int = 5000
    losses: int = 5

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read the limits that are set; raises SettingError that names one which cannot be."""
        return cls(
            **{
                each.name: whole_number(
                    environment,
                    f"FOREBAY_PARSE_{each.name.upper()}",
                    getattr(cls(), each.name),
                    least=LEAST_MEMORY if each.name == "memory_mb" else 1,
                    most=MOST,
                )
                for each in fields(cls)
            }
        )
