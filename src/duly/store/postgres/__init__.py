"""The PostgreSQL dialect: statements in ``queries/``, migrations in ``schema/``, and the driver that runs programs."""

from __future__ import annotations

from typing import Any

from duly.core.errors import ConfigurationError
from duly.store.sql import SqlStore

__all__ = ["postgres_store"]


def postgres_store(url: str, **options: Any) -> SqlStore:
    """A store on PostgreSQL; ``options`` are those of ``PostgresDriver``. Nothing is connected before ``open``."""
    try:
        from duly.store.postgres.driver import PostgresDriver
    except ImportError as error:
        raise ConfigurationError(
            f"the PostgreSQL store needs psycopg 3 ({error}); install it with: pip install 'duly[postgres]'"
        ) from error
    return SqlStore(PostgresDriver(url, **options))
