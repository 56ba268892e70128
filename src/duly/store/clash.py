"""What a driver raises for a row that is there already."""

from __future__ import annotations

from duly.core.errors import StoreError


class Clash(StoreError):
    """A value that must be the only one of its kind is in use; the transaction was rolled back, nothing was done.

    To a program that counts on its rows being new it says that they are not.
    """
