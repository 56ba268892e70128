"""What a driver raises where the database does not let its user do the work."""

from __future__ import annotations

from duly.core.errors import StoreUnavailable


class RightsMissing(StoreUnavailable):
    """The user of the database lacks a right; nothing was done, and nothing will be before somebody grants it."""
