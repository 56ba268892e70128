"""Refusals: every message says what was given and what was expected."""

from __future__ import annotations

from typing import TypeVar

from duly.core.errors import Invalid, ValidationFailed

Refusal = TypeVar("Refusal", bound=Invalid)


def refused(field: str, got: object, expected: str) -> ValidationFailed:
    """The refusal of one value."""
    return refused_as(ValidationFailed, f"{field} is {shortened(got)}", field, got, expected)


def refused_as(error: type[Refusal], given: str, field: str, got: object, expected: str) -> Refusal:
    """The refusal of one value as a kind of error of its own; ``given`` tells in words what was given."""
    return error(f"{given}; expected {expected}", field=field, got=got, expected=expected)


def shortened(got: object) -> str:
    """A value as it may stand in a message: printable ASCII, and not long."""
    try:
        text = ascii(got)
    except ValueError:  # Python writes no number of more than some thousand digits
        text = f"a number of {got.bit_length()} bits" if isinstance(got, int) else f"a {type(got).__name__}"
    return text if len(text) <= 60 else f"{text[:56]}..."
