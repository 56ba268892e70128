"""Mistakes in configuration, told with the place where a person finds them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from duly.core.errors import ConfigurationError, Invalid


@contextmanager
def placed(place: str | None) -> Iterator[None]:
    """Let a refusal of what stands in a file, or in the environment, begin with its place; None is code."""
    try:
        yield
    except (Invalid, ConfigurationError) as error:
        if place is None:
            raise
        raise ConfigurationError(f"{place}: {error.message}") from error
