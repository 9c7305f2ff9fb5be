"""What goes into a jsonb column is something that jsonb accepts."""

import json

from hypothesis import given
from hypothesis import strategies as st

from forebay.jsonb import mended, size

ANY_TEXT = st.text(st.characters(categories=None))


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
