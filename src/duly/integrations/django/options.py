"""The setting ``DULY``: what can be said in it, and what is wrong with what was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings as project
from django.core.exceptions import ImproperlyConfigured

from duly.config import Settings
from duly.core.database_schema import check_schema_name
from duly.core.errors import DulyError

KEYS = ("DATABASE", "URL", "SCHEMA", "NAME", "JOBS", "TARGETS", "SETTINGS")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the project said.

    ``database`` is one of ``DATABASES``, and ``url`` a database apart from them; ``schema`` holds the tables on
    PostgreSQL; ``jobs`` is the module of each app that declares jobs; ``name`` tells apart projects that share a
    database.
    """

    database: str | None = None
    url: str | None = None
    schema: str | None = None
    name: str | None = None
    jobs: str = "jobs"
    targets: Mapping[str, str] = field(default_factory=dict)
    settings: Settings | None = None


def read_options() -> Options:
    """Read ``settings.DULY``; raise ImproperlyConfigured with the name of what is wrong."""
    given = getattr(project, "DULY", None) or {}
    if not isinstance(given, Mapping):
        raise ImproperlyConfigured(f"DULY is {given!r}; expected a dictionary with some of {', '.join(KEYS)}")
    unknown = [str(key) for key in given if key not in KEYS]
    if unknown:
        raise ImproperlyConfigured(f"DULY has {', '.join(map(repr, unknown))}; expected some of {', '.join(KEYS)}")
    for key in ("DATABASE", "URL", "NAME", "JOBS"):
        value = given.get(key)
        if value is not None and (not isinstance(value, str) or not value):
            raise ImproperlyConfigured(f"DULY[{key!r}] is {value!r}; expected text")
    jobs = given.get("JOBS") or "jobs"
    if not jobs.isidentifier():
        raise ImproperlyConfigured(f"DULY['JOBS'] is {jobs!r}; expected the name of a module in each app, as 'jobs'")
    if given.get("DATABASE") and given.get("URL"):
        raise ImproperlyConfigured("DULY has both DATABASE and URL; expected one: an alias of DATABASES, or a URL")
    return Options(
        database=given.get("DATABASE"),
        url=given.get("URL"),
        schema=_schema(given.get("SCHEMA")),
        name=given.get("NAME"),
        jobs=jobs,
        targets=_mapping("TARGETS", given.get("TARGETS")),
        settings=_settings(_mapping("SETTINGS", given.get("SETTINGS"))),
    )


def _schema(value: Any) -> str | None:
    try:
        return None if value is None else check_schema_name(value, "DULY['SCHEMA']")
    except DulyError as error:
        raise ImproperlyConfigured(str(error)) from None


def _mapping(key: str, value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ImproperlyConfigured(f"DULY[{key!r}] is {value!r}; expected a dictionary with names as keys")
    return value


def _settings(given: Mapping[str, Any]) -> Settings | None:
    if not given:
        return None
    try:
        return Settings(**given)
    except (TypeError, DulyError) as error:
        raise ImproperlyConfigured(f"DULY['SETTINGS']: {error}") from error
