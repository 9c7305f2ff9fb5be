"""Set a table on a sheet, over as many pages as it needs."""

from collections.abc import Sequence

from forebay_lab.samples.sheet import LINE, Column, Rules, Sheet

PADDING = 1.5


def table(
    sheet: Sheet,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    rules: Rules = "head",
    *,
    size: float = 9,
    running: Sequence[str] = (),
    carry: tuple[str, str] | None = None,
) -> None:
    """Set rows under the heads of their columns from the sheet's `y` down, and move below them.

    Heads are said again on each page. With `carry`, the words for "carried" and "brought forward",
    each page but the last ends with the `running` sum after its last row, and the next begins so.
    """
    _head(sheet, columns, rules, size)
    for number, row in enumerate(rows):
        cells = [
            _fitted(sheet, column, cell, size) for column, cell in zip(columns, row, strict=True)
        ]
        height = LINE * max(len(lines) for lines in cells) + (1.4 if rules != "none" else 0)
        if sheet.y + height + LINE > sheet.bottom:
            if carry and number:
                _sum(sheet, carry[0], running[number - 1], size)
            sheet.turn()
            _head(sheet, columns, rules, size)
            if carry and number:
                _sum(sheet, carry[1], running[number - 1], size)
        _row(sheet, columns, cells, height, "none" if rules == "head" else rules, number % 2, size)
    if rules == "head":
        sheet.rule(sheet.left, sheet.y, sheet.left + sum(column.width for column in columns))
    sheet.y += 3


def _head(sheet: Sheet, columns: Sequence[Column], rules: Rules, size: float) -> None:
    titles = [_fitted(sheet, column, column.title, size) for column in columns]
    if not any(column.title for column in columns):
        return
    height = LINE * max(len(lines) for lines in titles) + 1.4
    _row(sheet, columns, titles, height, rules, 1, size, bold=True)
    if rules in ("head", "zebra"):
        sheet.rule(sheet.left, sheet.y, sheet.left + sum(column.width for column in columns))


def _row(
    sheet: Sheet,
    columns: Sequence[Column],
    cells: Sequence[Sequence[str]],
    height: float,
    rules: Rules,
    shade: int,
    size: float,
    *,
    bold: bool = False,
) -> None:
    x, width = sheet.left, sum(column.width for column in columns)
    if rules == "zebra" and shade:
        sheet.box(x, sheet.y, width, height, fill=True)
    if rules == "lines":
        sheet.rule(x, sheet.y + height, x + width)
    for column, lines in zip(columns, cells, strict=True):
        if rules == "grid":
            sheet.box(x, sheet.y, column.width, height)
        edge = {"left": PADDING, "right": column.width - PADDING, "center": column.width / 2}
        for number, line in enumerate(lines):
            y = sheet.y + LINE * (number + 0.8)
            at = x + edge[column.align]
            sheet.put(at, y, line, size=size, bold=bold, align=column.align)
        x += column.width
    sheet.y += height


def _sum(sheet: Sheet, label: str, value: str, size: float) -> None:
    """Write a sum in the last column, its label left of it."""
    sheet.y += LINE
    sheet.put(sheet.right - 40, sheet.y, label, size=size, align="right")
    sheet.put(sheet.right - PADDING, sheet.y, value, size=size, align="right")
    sheet.y += 1.4


def _fitted(sheet: Sheet, column: Column, text: str, size: float) -> list[str]:
    return sheet.split(text, column.width - 2 * PADDING, size)
