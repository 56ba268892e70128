"""Scheduling that commits or rolls back with the project's own rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.transaction import TransactionManagementError

from .databases import alias_of, shares_connection
from .options import read_options

Given = ParamSpec("Given")


def with_commit(call: Callable[Given, Any], /, *args: Given.args, **kwargs: Given.kwargs) -> None:
    """Do what a method of ``scheduler().sync`` does, if and only if the transaction around commits.

    ``with_commit(scheduler().sync.enqueue, "send-receipt", {"order": 7})``. On PostgreSQL it is written at once on
    Django's own connection: one commit for both. On SQLite, and where duly has a URL of its own, it is done right after
    the commit (``transaction.on_commit``), and lost if the process dies in between. Without a transaction it is done
    now. The transaction is that of ``DULY['DATABASE']``, or of Django's default database.
    """
    options = read_options()
    using = alias_of(options) or DEFAULT_DB_ALIAS
    asked: Callable[..., Any] = call
    if connections[using].in_atomic_block and shares_connection(options, using):
        asked(*args, **kwargs, connection=atomic_connection(using))
    else:
        transaction.on_commit(partial(asked, *args, **kwargs), using=using)


def atomic_connection(using: str | None = None) -> Any:
    """Django's own driver connection, inside ``transaction.atomic()``, for ``connection=`` of duly's methods."""
    options = read_options()
    alias = using or alias_of(options) or DEFAULT_DB_ALIAS
    wrapper = connections[alias]
    if not shares_connection(options, alias):
        raise ImproperlyConfigured(
            f"duly's tables are not in DATABASES[{alias!r}]: they share a transaction on PostgreSQL only, with"
            f" DULY['DATABASE'] = {alias!r}; use with_commit, or transaction.on_commit"
        )
    if not wrapper.in_atomic_block:
        raise TransactionManagementError("atomic_connection() was called outside of transaction.atomic()")
    wrapper.ensure_connection()
    connection = wrapper.connection
    import psycopg

    if not isinstance(connection, psycopg.Connection):
        raise ImproperlyConfigured(
            f"Django reaches DATABASES[{alias!r}] with {type(connection).__module__.partition('.')[0]}, and duly can"
            " write on connections of psycopg 3 only; install psycopg, or use transaction.on_commit"
        )
    return connection
