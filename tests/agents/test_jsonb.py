"""What goes into a jsonb column is something that jsonb accepts."""

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from forebay_agents.jsonb import safe, safe_text, size

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
    text = json.dumps(safe(value), ensure_ascii=False, allow_nan=False)
    assert "\\u0000" not in text.replace("\\\\", "")
    assert size(safe(value)) == len(text.encode())


def test_js2_numbers_without_a_value_become_null() -> None:
    """NaN and the infinities are null, at any depth; other numbers stay."""
    assert safe({"a": [float("nan"), float("inf"), 1.5, 7]}) == {"a": [None, None, 1.5, 7]}


def test_other_types_become_their_text() -> None:
    """A Decimal keeps its digits; a key that is no text becomes one."""
    assert safe({1: (Decimal("1.50"),)}) == {"1": ["1.50"]}


@given(st.text())
def test_sound_text_stays_as_it_is(text: str) -> None:
    """Only what jsonb refuses is changed."""
    assert safe_text(text) == text.replace("\0", "")
