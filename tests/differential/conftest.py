"""The databases that the comparison needs."""

from tests.stores import pooled_database, system_database

__all__ = ["pooled_database", "system_database"]
