"""The YAML emitter: what it writes is read back as the same value."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from duly.cli.printing import to_json
from duly.cli.yaml import to_yaml

CASES: list[tuple[Any, str]] = [
    (
        {"key": "nightly report", "count": 3, "on": True, "off": None},
        'key: nightly report\ncount: 3\n"on": true\n"off": null\n',
    ),
    ({"a": {"b": {"c": []}}, "d": {}}, "a:\n  b:\n    c: []\nd: {}\n"),
    ({"tags": ["x", "y z"]}, "tags:\n  - x\n  - y z\n"),
    ([{"a": 1, "b": 2}, [3, [4]]], "- a: 1\n  b: 2\n- - 3\n  - - 4\n"),
    ("2026-11-16T09:00:00Z", '"2026-11-16T09:00:00Z"\n'),
    ("0 9 * * *", '"0 9 * * *"\n'),
    ("yes", '"yes"\n'),
    ("No", '"No"\n'),
    ("", '""\n'),
    ("a: b", '"a: b"\n'),
    ("a #b", '"a #b"\n'),
    ("two\nlines", '"two\\nlines"\n'),
    ("Zoë", '"Zoë"\n'),
    ("bell\x07 and \x85 \u2028", '"bell\\u0007 and \\u0085 \\u2028"\n'),
    ("\u202egnp.exe \U000e0041", '"\\u202egnp.exe \\U000e0041"\n'),
    ("Europe/Berlin", "Europe/Berlin\n"),
    (1e20, "1.0e+20\n"),
    (1.5, "1.5\n"),
]


@pytest.mark.parametrize("value, text", CASES, ids=lambda case: repr(case)[:30])
def test_a_value_is_written_like_this(value: Any, text: str) -> None:
    assert to_yaml(value) == text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_any_json_value_comes_back_from_a_yaml_reader(value: Any) -> None:
    assert yaml.safe_load(to_yaml(value)) == value


@given(JSON)
def test_json_is_read_back_as_the_same_value_and_has_nothing_that_a_terminal_obeys(value: Any) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    assert all(line.isprintable() for line in text.split("\n"))


def test_json_escapes_controls_and_what_turns_text_around_and_leaves_letters() -> None:
    assert to_json("Zoë \x7f\x9b2J \u202e \U000e0041") == r'"Zoë \u007f\u009b2J \u202e \udb40\udc41"'
