"""What goes into a jsonb column is something that jsonb accepts."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forebay.errors import InvalidDocumentError
from forebay.jsonb import dump, dump_safe, mended, size

ANY_TEXT = st.text(st.characters(categories=None))
DEEP = 900  # levels, of about 990 that the json module writes


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
        lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
        max_leaves=10,
    )
)
def test_js1_js2_anything_becomes_json_that_postgres_takes(value: object) -> None:
    """The text encodes as UTF-8, holds no NUL, and no number is out of JSON's reach."""
    text = json.dumps(mended(value), ensure_ascii=False, allow_nan=False)
    assert "\\u0000" not in text.replace("\\\\", "")
    assert size(mended(value)) == len(text.encode())


def test_js2_numbers_without_a_value_become_null() -> None:
    """NaN and the infinities are null, at any depth; other numbers stay."""
    assert mended({"a": [float("nan"), (float("inf"), 1.5), 7]}) == {"a": [None, [None, 1.5], 7]}


@given(st.text())
def test_sound_text_stays_as_it_is(text: str) -> None:
    """Only what jsonb refuses is changed."""
    assert mended(text) == text.replace("\0", "\ufffd")


def test_a_pair_of_halves_is_the_character_that_they_make() -> None:
    """Surrogates that belong together are joined; one alone is replaced, in keys too."""
    assert mended({"\ud83d\ude00": "\ud83d"}) == {"\N{GRINNING FACE}": "\ufffd"}


@given(st.text("\0\\u0"))
def test_a_nul_is_told_from_the_letters_of_its_escape(text: str) -> None:
    """Only what Postgres would refuse is refused, whatever backslashes stand before u0000."""
    for value in (text, {text: 1}, [[text]]):
        if "\0" in text:
            with pytest.raises(InvalidDocumentError, match="NUL"):
                dump("it", value)
        else:
            assert json.loads(dump("it", value)) == value


def nested(value: Any, levels: int) -> Any:
    """Return value inside of so many lists and objects."""
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


@pytest.mark.parametrize("text", ["\0", "\\u0000"])
def test_what_is_deep_is_mended_too(text: str) -> None:
    """As deep as JSON can be written at all, a NUL is replaced and its letters stay."""
    expected = nested(text.replace("\0", "\ufffd"), DEEP)
    assert dump_safe("it", nested(text, DEEP)) == dump("it", expected)


def test_what_is_too_deep_is_refused_in_a_sentence() -> None:
    """With or without something to mend, and where it holds itself."""
    for text in ("\0", "a"):
        with pytest.raises(InvalidDocumentError, match=r"^it is nested too deep\.$"):
            dump_safe("it", nested(text, 100_000))
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises(InvalidDocumentError):
        dump_safe("it", circle)


def test_a_key_that_is_no_json_is_refused() -> None:
    """A pair as a key too, though as a value it would be a list."""
    with pytest.raises(InvalidDocumentError, match="not JSON"):
        dump_safe("it", {(1, 2): "a"})
